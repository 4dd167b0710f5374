const lane = window.dcoco.lanes[props.lane], {make, write, explain, strip, signed, minus, scale, onTheme, heat, LIMIT, Sheet} = window.dcoco;
element.dataset.lane = props.lane;

const MODES = {S: ["S", "Score S(a, b)"], base: ["base", "Draft logit of b alone"], delta: ["Δ", "Correction Δ, each row less its mean"]};
let mode = "S", shape = "", cells = [], rows = [], columns = [], spot = null, wanted = "", picture = null, place = null, dye = null;

const head = element.appendChild(make("div", "head"));
const title = head.appendChild(make("h3"));
explain(title, "Transitions", props.terms.score, `${props.lane}-score`);

const tools = head.appendChild(make("div", "tools"));
const button = (text, label, act) => {
  const node = tools.appendChild(make("button", "", text));
  Object.assign(node, {type: "button", title: label});
  node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
};
button("◀", "Previous slot pair ([)", () => lane.setPair(lane.pair - 1));
const choice = tools.appendChild(make("select"));
choice.setAttribute("aria-label", "Slot pair");
choice.addEventListener("change", () => lane.setPair(+choice.value));
button("▶", "Next slot pair (])", () => lane.setPair(lane.pair + 1));
const group = tools.appendChild(make("div", "modes"));
group.setAttribute("role", "group");
group.setAttribute("aria-label", "What the cells show");
const switches = Object.entries(MODES).map(([name, [text, label]]) => {
  const node = group.appendChild(make("button", "", text));
  Object.assign(node, {type: "button", title: label});
  node.addEventListener("click", () => { mode = name; repaint(); });
  return [name, node];
});

const note = element.appendChild(make("p", "note"));
const scroller = element.appendChild(make("div", "scroller"));
const table = scroller.appendChild(make("table"));
const caption = table.appendChild(make("caption"));
const story = caption.appendChild(make("span", "words"));
const sheet = new Sheet(scroller);
const detail = element.appendChild(make("div", "detail")), what = detail.appendChild(make("div", "what"));
const [first, second] = [what.appendChild(make("bdi", "tok")), (what.append("→"), what.appendChild(make("bdi", "tok")))];
const values = strip(detail, props.terms, `${props.lane}-step`);
const ramp = element.appendChild(make("p", "ramp"));
const [low, bar, high] = [make("span", "low"), make("span", "bar"), make("span", "high")];
ramp.append(low, bar, high);

const shapeOf = ({places, n}) => `${places.length}x${n}`;
function build(found) {
  const {n: ranks, places} = found;
  shape = shapeOf(found);
  place = null;
  table.replaceChildren(caption);
  const top = table.createTHead().insertRow();
  top.appendChild(make("th", "corner", "from ↓ to →")).scope = "col";
  const name = (th, scope) => {
    const turn = th.appendChild(make("span", "turn"));
    return {th: Object.assign(th, {scope}), mark: turn.appendChild(make("span", "mark")), tok: turn.appendChild(make("bdi", "tok"))};
  };
  columns = Array.from({length: ranks}, () => name(top.appendChild(make("th", "to")), "col"));
  const body = table.createTBody();
  rows = [];
  cells = places.map((_, a) => {
    const row = body.insertRow();
    rows.push(name(row.appendChild(make("th", "from")), "row"));
    return Array.from({length: ranks}, (_, b) => {
      const td = row.insertCell();
      Object.assign(td.dataset, {a, b});
      td.tabIndex = a || b ? -1 : 0;
      return td;
    });
  });
}

function why() {
  if (!lane.cycle) return "The first cycle has not come in yet.";
  const {method: kind, label, head} = lane.run;
  if (kind === "none") return "Plain decoding drafts nothing, so there are no transitions.";
  if (kind === "dcoco-nohead") return "The corrector is off in this run: each slot's argmax is taken, and no transition was scored.";
  if (!head) return `${label} predicts every slot on its own and takes each slot's argmax: no head, so no transition scores.`;
  return lane.cycle.candidates ? "There are no transition scores of this cycle here." : "This cycle was decoded plainly, without a draft.";
}

let drawn = "";
// Once a frame; whether something moved, so that the table has to follow when the lane rests.
function draw() {
  const grid = lane.grid(lane.cycle);
  if (!lane.run || !lane.scored(grid)) { drawn = ""; picture = null; return false; }
  const pair = lane.pairIn(grid), now = `${lane.run.id} ${lane.cycle.index} ${pair} ${mode}`;
  if (grid.walked && pair >= 0) lane.want(lane.cycle.index, pair);
  if (now === drawn) return false;
  const found = heat(lane, mode);
  if (!found) { load(now, lane.cycle.index, pair); return false; }
  [drawn, picture, spot] = [now, found, null];
  if (shape !== shapeOf(picture) || !place) { appear(); settle(); return false; }
  window.dcoco.drawHeat(sheet, picture, place, fills());
  return true;
}
const repaint = () => { drawn = ""; draw(); tell(); settle(); };

function appear() {
  const can = lane.scored(lane.grid(lane.cycle)), {serial, label} = lane.run ?? {};
  element.classList.toggle("empty", !lane.run);
  note.hidden = can && !serial;
  tools.hidden = scroller.hidden = detail.hidden = ramp.hidden = !can;
  if (lane.run) element.style.setProperty("--method", lane.color);
  if (lane.run && !note.hidden) write(note, can ? `${label} scores only the successors of what it has chosen: there is no grid of transitions.` : why());
}

const fills = () => Object.assign(dye ??= window.dcoco.colours(element), {fills: scale(mode === "delta" ? "delta" : "probability")});

// The words around the table, which are always those of what is drawn.
function tell() {
  appear();
  const grid = lane.grid(lane.cycle);
  if (!picture || !grid) return; // no frame has told the one of the other yet
  const {pair, n, from, to, scores} = picture, lowest = lane.lowest(grid);
  const late = picture.cycle !== lane.cycle || picture.pair !== lane.pairIn(grid);
  scroller.classList.toggle("stale", late);
  if (choice.length !== grid.slots - 1 - lowest || +choice.options[0].value !== lowest)
    choice.replaceChildren(...Array.from({length: grid.slots - 1 - lowest}, (_, i) => i + lowest)
      .map((p) => new Option(p < 0 ? "anchor → 1" : `slot ${p + 1} → ${p + 2}`, p)));
  if (+choice.value !== pair) choice.value = pair;
  for (const [name, node] of switches) node.setAttribute("aria-pressed", name === mode);
  const better = from < 0 ? 0 : scores.subarray(from * n, (from + 1) * n).reduce((count, s) => count + (s > scores[from * n + to]), 0);
  const step = from < 0 || to < 0 ? "the path runs outside the pool here"
    : `the ${lane.run.walk} walk took the marked step, ${better ? `number ${better + 1}` : "the best"} of the marked row by S`;
  write(story, `${MODES[mode][1]}, from ${pair < 0 ? "the anchor" : `slot ${pair + 1}`} to slot ${pair + 2}; ${step}`);
  if (!spot) show(from, to);
  table.setAttribute("aria-busy", sheet.visible);
  write(low, mode === "delta" ? `≤ −${LIMIT}` : minus(picture.low, 1));
  write(high, mode === "delta" ? `≥ +${LIMIT} logits` : `${minus(picture.high, 1)} logits`);
}

// The table as the picture has it.
function settle() {
  if (!picture) return;
  const {n, from, to, texts, steps} = picture;
  if (shape !== shapeOf(picture)) build(picture);
  const {fills: scales} = fills();
  const name = ({th, mark, tok}, text, k, walked) => {
    write(mark, walked ? "▶ " : "");
    write(tok, text);
    th.title = `${k < 0 ? "anchor" : `rank ${k + 1}`}: ${text}`;
    th.classList.toggle("walked", walked);
  };
  for (let b = 0; b < n; b++) name(columns[b], picture.columns[b], b, b === to);
  for (let a = 0; a < rows.length; a++) {
    name(rows[a], picture.rows[a], picture.places[a], a === from);
    for (let b = 0; b < n; b++) {
      const td = cells[a][b], [fill, ink] = scales[steps[a * n + b]];
      td.style.background = fill;
      td.style.color = ink;
      write(td, texts[a * n + b]);
      td.className = a === from && b === to ? "cell walked" : a === from ? "row" : b === to ? "column" : "";
    }
  }
  bar.style.background = `linear-gradient(to right, ${scales.filter((_, i) => i % 8 === 0).map(([fill]) => fill)})`;
  if (!place) measure();
  sheet.hide();
  table.setAttribute("aria-busy", false);
}

// Where the table has its parts, in the scroller's pixels.
function measure() {
  place = null;
  if (!cells[0]?.[0].offsetWidth) return;
  const {fontOf} = window.dcoco, origin = table.getBoundingClientRect(), td = cells[0][0];
  const box = (node) => {
    const {left, top, width, height, bottom} = node.getBoundingClientRect();
    return {left: left - origin.left, top: top - origin.top, width, height, bottom: bottom - origin.top};
  };
  const {top, bottom} = box(columns[0].th), row = box(rows[0].th), {width: wide, height: high} = box(td);
  place = {
    xs: cells[0].map((cell) => box(cell).left), ys: cells.map(([cell]) => box(cell).top), wide, high,
    left: row.left, names: row.width, base: bottom - 3, tall: 74,
    fonts: {cell: fontOf(td, 400), strong: fontOf(td, 700), name: fontOf(rows[0].tok, 400), walked: fontOf(rows[0].tok, 700)},
  };
  sheet.place({left: 0, top: Math.floor(top), width: table.offsetWidth, height: table.offsetHeight - Math.floor(top)});
}

async function load(now, index, pair) {
  wanted = now;
  try { await lane.loadScores(index, pair); } catch (error) { note.hidden = false; note.textContent = "The scores could not be fetched: is the server still running?"; return; }
  if (wanted !== now || !lane.scoresOf(index, pair)) return;
  if (draw()) settle();
  tell();
}

function show(a, b) {
  if (!picture || a < 0 || b < 0) return;
  spot = {a, b};
  const {n, scores, bases} = picture, s = scores[a * n + b], base = bases[b];
  write(first, picture.rows[a]);
  write(second, picture.columns[b]);
  write(values.score.value, `${minus(s, 2)} =`);
  write(values.base.value, minus(base, 2));
  write(values.delta.value, signed(s - base, 2));
}

const at = (event) => event.target.closest("td");
for (const type of ["mouseover", "focusin"]) table.addEventListener(type, (event) => { const td = at(event); if (td) show(+td.dataset.a, +td.dataset.b); });
table.addEventListener("mouseleave", () => { if (picture) show(picture.from, picture.to); });
table.addEventListener("keydown", (event) => {
  const td = at(event);
  if (!td) return;
  const a = +td.dataset.a, b = +td.dataset.b;
  const to = {ArrowLeft: [a, b - 1], ArrowRight: [a, b + 1], ArrowUp: [a - 1, b], ArrowDown: [a + 1, b]}[event.key];
  const next = to && cells[to[0]]?.[to[1]];
  if (!to) return;
  event.preventDefault();
  if (!next) return;
  td.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

lane.onRest("run cycles select pair", draw, settle);
lane.on("run cycles select pair", tell);
new ResizeObserver(() => { if (cells.length) measure(); }).observe(table);
onTheme(() => { dye = null; settle(); });
