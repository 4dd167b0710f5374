const lane = window.dcoco.lanes[props.lane], {make, explain, scale, palette, onTheme} = window.dcoco;
element.dataset.lane = props.lane;

const LIMIT = 2; // of the correction's colours, in logits, the same in every cycle so that pictures compare
const MODES = {S: "S", base: "base", delta: "Δ"};
let mode = "S", shape = 0, cells = [], rows = [], columns = [], spot = null, wanted = "";

const head = element.appendChild(make("div", "head"));
const title = head.appendChild(make("h3"));
explain(title, "Transitions", props.score, `${props.lane}-score`);

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
const switches = Object.entries(MODES).map(([name, text]) => {
  const node = group.appendChild(make("button", "", text));
  Object.assign(node, {type: "button", title: {S: "Score S(a, b)", base: "Draft logit of b alone", delta: "Correction: S − base, each row less its mean"}[name]});
  node.addEventListener("click", () => { mode = name; paint(); });
  return [name, node];
});

const note = element.appendChild(make("p", "note"));
const scroller = element.appendChild(make("div", "scroller"));
const table = scroller.appendChild(make("table"));
const caption = table.appendChild(make("caption"));
const words = caption.appendChild(make("span", "words"));
const detail = element.appendChild(make("p", "detail"));
const ramp = element.appendChild(make("p", "ramp"));
const [low, bar, high] = [make("span"), make("span", "bar"), make("span")];
ramp.append(low, bar, high);

function build(ranks) {
  shape = ranks;
  table.replaceChildren(caption);
  const top = table.createTHead().insertRow();
  top.appendChild(make("th", "corner", "from ↓ to →")).scope = "col";
  columns = Array.from({length: ranks}, () => Object.assign(top.appendChild(make("th", "to")), {scope: "col"}));
  const body = table.createTBody();
  rows = [];
  cells = Array.from({length: ranks}, (_, a) => {
    const row = body.insertRow();
    rows.push(Object.assign(row.appendChild(make("th", "from")), {scope: "row"}));
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
  const kind = lane.run.method;
  if (kind === "none") return "Plain decoding drafts nothing, so there are no transitions.";
  if (kind === "dflash") return "DFlash predicts every slot on its own and takes each slot's argmax: no corrector, so no transition scores.";
  if (kind === "dcoco-nohead") return "The corrector is off in this run: each slot's argmax is taken, and no transition was scored.";
  return lane.cycle.candidates ? "No transition scores were recorded in this cycle." : "This cycle was decoded plainly, without a draft.";
}

function paint() {
  const cycle = lane.cycle, grid = lane.grid(cycle), can = !!grid?.walked;
  element.classList.toggle("empty", !lane.run);
  note.hidden = can;
  tools.hidden = scroller.hidden = detail.hidden = ramp.hidden = !can;
  if (!lane.run) return;
  element.style.setProperty("--method", lane.color);
  if (!can) { note.textContent = why(); return; }
  const pair = Math.min(lane.pair, grid.slots - 2), scores = lane.scoresOf(cycle.index, pair);
  if (!scores) return load(cycle.index, pair);
  if (shape !== grid.ranks) build(grid.ranks);
  if (choice.length !== grid.slots - 1)
    choice.replaceChildren(...Array.from({length: grid.slots - 1}, (_, p) => new Option(`slot ${p + 1} → ${p + 2}`, p)));
  choice.value = pair;
  for (const [name, node] of switches) node.setAttribute("aria-pressed", name === mode);
  const n = grid.ranks, base = (b) => grid.logits[(pair + 1) * n + b], s = (a, b) => scores[a * n + b];
  // The walk compares within a row, and training leaves a row's level free: only what differs from it means something.
  const level = Array.from({length: n}, (_, a) => Array.from({length: n}, (_, b) => s(a, b) - base(b)).reduce((x, y) => x + y) / n);
  const value = {S: s, base: (a, b) => base(b), delta: (a, b) => s(a, b) - base(b) - level[a]}[mode];
  const [bottom, top] = mode === "delta" ? [-LIMIT, LIMIT] : range(mode === "S" ? scores : grid.logits.subarray((pair + 1) * n, (pair + 2) * n));
  const fills = scale(mode === "delta" ? "delta" : "probability"), last = fills.length - 1;
  const [from, to] = [cycle.ranks[pair], cycle.ranks[pair + 1]];
  for (let k = 0; k < n; k++) {
    name(rows[k], grid.ids[pair * n + k], k, k === from ? "▶ " : "");
    name(columns[k], grid.ids[(pair + 1) * n + k], k, k === to ? "▶ " : "");
    rows[k].classList.toggle("walked", k === from);
    columns[k].classList.toggle("walked", k === to);
  }
  for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) {
    const td = cells[a][b], x = value(a, b);
    const [fill, text] = fills[Math.round(last * Math.min(1, Math.max(0, (x - bottom) / (top - bottom || 1))))];
    td.style.background = fill;
    td.style.color = text;
    td.textContent = mode === "delta" ? signed(x, 1) : x.toFixed(1);
    td.className = a === from && b === to ? "cell walked" : a === from ? "row" : b === to ? "column" : "";
  }
  words.textContent = `${{S: "Score S(a, b)", base: "Draft logit of b", delta: "Correction Δ = S − base, each row less its mean,"}[mode]} from slot ${pair + 1} to slot ${pair + 2}; the walk took the best of the marked row`;
  low.textContent = mode === "delta" ? `≤ −${LIMIT}` : bottom.toFixed(1);
  high.textContent = mode === "delta" ? `≥ +${LIMIT} logits` : `${top.toFixed(1)} logits`;
  bar.style.background = `linear-gradient(to right, ${fills.filter((_, i) => i % 8 === 0).map(([fill]) => fill)})`;
  spot ??= {a: from, b: to};
  describe(spot.a, spot.b);
}

function range(list) {
  let low = Infinity, high = -Infinity;
  for (const x of list) { low = Math.min(low, x); high = Math.max(high, x); }
  return [low, high];
}

function name(th, id, k, mark) {
  const turn = make("span", "turn");
  turn.append(make("span", "mark", mark), make("bdi", "tok", lane.show(id)));
  th.replaceChildren(turn);
  th.title = `rank ${k + 1}: ${lane.show(id)}`;
}

async function load(index, pair) {
  scroller.classList.add("stale");
  wanted = `${pair}:${index}`;
  try { await lane.loadScores(index, pair); } catch (error) { note.hidden = false; note.textContent = "The scores could not be fetched: is the server still running?"; return; }
  if (lane.scoresOf(index, pair) && wanted === `${pair}:${index}`) { scroller.classList.remove("stale"); paint(); }
}

const signed = (x, digits) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(digits);

function describe(a, b) {
  const grid = lane.grid(lane.cycle), pair = grid && Math.min(lane.pair, grid.slots - 2), scores = grid && lane.scoresOf(lane.cycle.index, pair);
  if (!scores) return;
  spot = {a, b};
  const n = grid.ranks, base = grid.logits[(pair + 1) * n + b], s = scores[a * n + b];
  detail.replaceChildren(make("bdi", "tok", lane.show(grid.ids[pair * n + a])), "→", make("bdi", "tok", lane.show(grid.ids[(pair + 1) * n + b])),
    make("span", "", `S ${s.toFixed(2)} = base ${base.toFixed(2)} ${s < base ? "−" : "+"} ${Math.abs(s - base).toFixed(2)}`));
}

const at = (event) => event.target.closest("td");
for (const type of ["mouseover", "focusin"]) table.addEventListener(type, (event) => { const td = at(event); if (td) describe(+td.dataset.a, +td.dataset.b); });
table.addEventListener("mouseleave", () => { const r = lane.cycle?.ranks; if (r) describe(r[lane.pair], r[lane.pair + 1]); });
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

lane.on("run cycles select pair", () => { spot = null; paint(); });
onTheme(paint);
