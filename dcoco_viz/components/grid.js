const lane = window.dcoco.lanes[props.lane], {make, write, scale, onTheme, lattice, marks, MARKS, Sheet} = window.dcoco;
element.dataset.lane = props.lane;

const note = element.appendChild(make("p", "note"));
const scroller = element.appendChild(make("div", "scroller"));
const table = scroller.appendChild(make("table"));
const caption = table.appendChild(make("caption"));
const story = caption.appendChild(make("span", "words"));
const svg = scroller.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
svg.setAttribute("aria-hidden", "true");
const [argmaxPath, chosenPath, rule] = [["path", "argmax"], ["path", "chosen"], ["line", "rule"]].map(([tag, name]) => {
  const node = svg.appendChild(document.createElementNS(svg.namespaceURI, tag));
  node.setAttribute("class", name);
  return node;
});
const sheet = new Sheet(scroller);
const detail = window.dcoco.detail(lane, element, props.terms);
const key = element.appendChild(make("ul", "key"));
key.setAttribute("aria-label", "How to read the grid");

let shape = "", cells = [], heads = [], feet = [], anchor = null, spot = {j: 0, k: 0};
let place = null, dye = null; // where the table has its parts; the theme's colours
let drawn = ""; // what is on the screen

function build(slots, ranks) {
  shape = `${slots}x${ranks}`;
  place = null;
  table.replaceChildren(caption);
  const top = table.createTHead().insertRow();
  const corner = top.appendChild(make("th", "rank", "rank"));
  corner.scope = "col";
  top.appendChild(make("th", "slot", "anchor")).scope = "col";
  heads = Array.from({length: slots}, (_, j) => {
    const th = top.appendChild(make("th", "slot"));
    th.scope = "col";
    th.append(make("b", "", j + 1), make("span", "mark"));
    return th;
  });
  const body = table.createTBody();
  cells = Array.from({length: slots}, () => []);
  for (let k = 0; k < ranks; k++) {
    const row = body.insertRow();
    const th = row.appendChild(make("th", "rank", k + 1));
    th.scope = "row";
    if (k === 0) {
      anchor = row.insertCell();
      anchor.className = "anchor";
      anchor.rowSpan = ranks;
      anchor.append(make("bdi", "tok"));
    }
    for (let j = 0; j < slots; j++) {
      const td = row.insertCell(), tok = td.appendChild(make("bdi", "tok")), p = td.appendChild(make("span", "p"));
      td.tabIndex = j || k ? -1 : 0;
      td.dataset.slot = j;
      td.dataset.rank = k;
      cells[j].push({td, tok, p});
    }
  }
  const foot = table.createTFoot().insertRow();
  const th = foot.appendChild(make("th", "rank", "verifier"));
  th.scope = "row";
  th.colSpan = 2;
  feet = Array.from({length: slots}, () => {
    const td = foot.insertCell();
    return {td, tok: td.appendChild(make("bdi", "tok")), where: td.appendChild(make("span", "where"))};
  });
  spot = {j: Math.min(spot.j, slots - 1), k: Math.min(spot.k, ranks - 1)};
}

// Once a frame; whether something moved, so that the table has to follow when the lane rests.
function draw() {
  const cycle = lane.cycle, grid = lane.grid(cycle);
  if (!lane.run || !grid) { drawn = ""; lane.picture = null; return false; }
  // Of a cycle that is there, only the text behind it can grow.
  const now = `${lane.run.id} ${cycle.index} ${Math.min(grid.slots, lane.tokens.length + lane.run.prompt_tokens - cycle.position)}`;
  if (now === drawn) return false;
  drawn = now;
  lane.picture = lattice(lane);
  if (shape !== `${grid.slots}x${grid.ranks}` || !place) { appear(); settle(); return false; }
  const focused = table.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
  window.dcoco.drawGrid(sheet, lane.picture, place, dye ??= dyes(), focused ? spot : null);
  return true;
}

function appear() {
  const grid = lane.grid(lane.cycle);
  element.classList.toggle("empty", !lane.run);
  scroller.hidden = key.hidden = !grid;
  note.hidden = !!grid;
  if (lane.run) element.style.setProperty("--method", lane.color);
  if (lane.run && !grid) note.textContent = why();
}

function why() {
  if (!lane.cycle) return "The first cycle has not come in yet.";
  if (lane.run.method === "none") return "Plain decoding: each step is one verifier forward and one token. There is no draft to show.";
  return lane.cycle.submitted ? "This cycle was recorded without its candidates." : "No draft in this step: the engine decoded one token plainly.";
}

// The words around the table, which are always those of the cycle.
const facts = [make("span"), make("b"), make("span")];
story.append(...facts);
function tell() {
  appear();
  detail.show(spot.j, spot.k);
  const {cycle} = lane, grid = lane.grid(cycle);
  if (!grid) return;
  const {accepted, submitted} = cycle, ended = cycle.committed.length <= accepted;
  const last = ended ? "end of the text" : `${!submitted ? "the verifier's own" : accepted < submitted ? "replacement" : "bonus"} ${quote(cycle.committed.at(-1))}`;
  write(facts[0], `Cycle ${cycle.index + 1}: anchor ${quote(cycle.anchor)} at position ${cycle.position}; `);
  write(facts[1], submitted ? `${accepted} of ${submitted} accepted` : "drafted for the record, not submitted");
  write(facts[2], `, then ${last}`);
  table.setAttribute("aria-busy", sheet.visible);
}
const quote = (id) => `“${lane.show(id)}”`;

// The table as the picture has it.
function settle() {
  const picture = lane.picture;
  if (!picture) return;
  dye ??= dyes();
  const {slots, faces, ranks} = picture;
  if (shape !== `${slots.length}x${ranks}`) build(slots.length, ranks);
  write(anchor.firstChild, picture.anchor);
  anchor.title = `anchor: the last committed token, position ${picture.cycle.position}`;
  slots.forEach((slot, j) => {
    cells[j].forEach(({td, tok, p}, k) => {
      const face = faces[j * ranks + k], [fill, ink] = dye.scales[+slot.dim][face.step];
      write(tok, face.text);
      write(p, face.share);
      td.style.backgroundColor = fill;
      td.style.color = ink;
      td.className = marks(slot, k).join(" ");
      td.setAttribute("aria-label", [`slot ${j + 1} rank ${k + 1}: ${face.text}, probability ${face.share}`, ...window.dcoco.words(slot, k)].join(", "));
    });
    heads[j].className = `slot ${slot.state}`;
    write(heads[j].lastChild, MARKS[slot.state]);
    heads[j].title = {unsent: "not submitted to the verifier", taken: "accepted", refused: "refused: the first error", after: "behind the first error, not considered"}[slot.state];
    const {td, tok, where} = feet[j];
    td.className = !slot.known ? "unknown" : (slot.held < 0 ? "missing" : "held") + (slot.later ? " late" : "");
    td.title = !slot.known ? "the run ended before this position" : slot.later ? "committed here later" : "the verifier's choice, given the accepted tokens";
    write(tok, slot.text);
    write(where, slot.where);
  });
  if (!place) measure();
  lines();
  sheet.hide();
  table.setAttribute("aria-busy", false);
}

function lines() {
  if (!place || !lane.picture) return;
  const {chosen, argmax, rule: at} = window.dcoco.routes(lane.picture, place);
  chosenPath.setAttribute("d", chosen);
  argmaxPath.setAttribute("d", argmax);
  rule.style.display = at ? "" : "none";
  if (at) for (const [name, value] of Object.entries({x1: at.x, x2: at.x, y1: at.top, y2: at.bottom})) rule.setAttribute(name, value);
}

// Where the table has its parts, in the scroller's pixels. Read once: reading while things move costs a layout each time.
function measure() {
  place = null;
  const first = cells[0]?.[0];
  if (!first?.td.offsetWidth) return;
  const origin = table.getBoundingClientRect(), font = window.dcoco.fontOf;
  const box = (node) => {
    const {left, right, top, height} = node.getBoundingClientRect();
    return {left: left - origin.left + node.clientLeft, right: right - origin.left, top: top - origin.top, height, middle: top - origin.top + height / 2};
  };
  const {td, tok, p} = first, [mark, number] = [heads[0].lastChild, heads[0].firstChild], {top, height} = box(td), face = box(tok);
  const columns = cells.map((column) => box(column[0].td)), spare = parseFloat(/([\d.]+)px/.exec(getComputedStyle(tok).maxWidth)[1]);
  place = {
    columns, top, height, pitch: cells[0].length > 1 ? box(cells[0][1].td).top - top : height,
    anchor: {...box(anchor), ...box(anchor.firstChild)}, start: box(anchor).right, headTop: box(heads[0]).top, headMiddle: box(number).middle,
    footTop: box(feet[0].td).top + 3,
    tok: {left: face.left - columns[0].left, top: face.top - top, height: face.height, width: columns[0].right - columns[0].left - spare},
    p: {right: columns[0].right - box(p).right, middle: box(p).middle - top},
    fonts: {tok: font(tok), p: font(p), head: font(number), mark: font(mark, 400), strong: font(mark, 700),
            foot: font(feet[0].tok, 400), missing: font(feet[0].tok, 600), where: font(feet[0].where)},
  };
  svg.setAttribute("width", table.offsetWidth);
  svg.setAttribute("height", table.offsetHeight);
  sheet.place({left: Math.floor(place.anchor.left), top: Math.floor(place.headTop),
               width: table.offsetWidth - Math.floor(place.anchor.left), height: table.offsetHeight - Math.floor(place.headTop)});
  dye = null;
  lines();
}

function dyes() {
  const colours = window.dcoco.colours(element), {hatching} = window.dcoco, size = place ? [place.columns[0].right - place.columns[0].left, place.height] : [1, 1];
  return {...colours, scales: [scale("probability"), scale("dimmed")], dim: hatching(...size, colours.hatch, 7, false), unsent: hatching(...size, colours.hatch, 4, true)};
}

const KEY = [["chosen", "chosen path"], ["argmax", "drafter's argmax, where it differs"], ["ring", "verifier's token"], ["ring later", "token committed there later"],
             ["rule", "acceptance point"], ["dim", "behind it: not considered"], ["unsent", "not submitted"]];
for (const [name, label] of KEY) key.appendChild(make("li")).append(make("span", "sample " + name), make("span", "", label));
const ramp = key.appendChild(make("li", "ramp")), bar = make("span", "bar");
ramp.append("draft probability .001", bar, "1 (log scale)");
const ink = () => { bar.style.background = `linear-gradient(to right, ${scale("probability").filter((_, i) => i % 9 === 0).map(([fill]) => fill)})`; };

// The pointer or the focus picks the cell that is described below; a click shows the slot pair that leads to it.
const cellOf = (event) => event.target.closest("td[data-slot]");
const look = (event) => {
  const td = cellOf(event);
  if (!td) return;
  spot = {j: +td.dataset.slot, k: +td.dataset.rank};
  detail.show(spot.j, spot.k);
};
table.addEventListener("mouseover", look);
table.addEventListener("focusin", look);
table.addEventListener("click", (event) => {
  const td = cellOf(event);
  if (!td) return;
  move(+td.dataset.slot, +td.dataset.rank);
  lane.setPair(td.dataset.slot - 1);
});
function move(j, k) {
  const target = cells[j]?.[k]?.td;
  if (!target) return;
  table.querySelector("td[tabindex='0']")?.setAttribute("tabindex", -1);
  target.tabIndex = 0;
  target.focus({preventScroll: false});
}
table.addEventListener("keydown", (event) => {
  const td = cellOf(event);
  if (!td || event.ctrlKey || event.metaKey || event.altKey) return;
  const j = +td.dataset.slot, k = +td.dataset.rank;
  const to = {ArrowLeft: [j - 1, k], ArrowRight: [j + 1, k], ArrowUp: [j, k - 1], ArrowDown: [j, k + 1], Home: [0, k], End: [cells.length - 1, k]}[event.key];
  if (to) { move(...to); event.preventDefault(); }
  if (event.key === "Enter") lane.setPair(j - 1);
  if (event.key === "b") { look(event); detail.act(); }
});

lane.onRest("run cycles select", draw, settle);
lane.on("run cycles select", tell);
new ResizeObserver(() => { if (cells.length) { measure(); settle(); } }).observe(table);
onTheme(() => { ink(); dye = null; settle(); });
ink();
