const lane = window.dcoco.lanes[props.lane], {make, scale, palette, onTheme} = window.dcoco;
element.dataset.lane = props.lane;

const note = element.appendChild(make("p", "note"));
const scroller = element.appendChild(make("div", "scroller"));
const table = scroller.appendChild(make("table"));
const caption = table.appendChild(make("caption"));
const words = caption.appendChild(make("span", "words"));
const svg = scroller.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
svg.setAttribute("aria-hidden", "true");
const detail = element.appendChild(make("p", "detail"));
const key = element.appendChild(make("ul", "key"));
key.setAttribute("aria-label", "How to read the grid");

let shape = "", cells = [], heads = [], feet = [], anchor = null, spot = null;

function build(slots, ranks) {
  shape = `${slots}x${ranks}`;
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
  feet = Array.from({length: slots}, () => foot.insertCell());
}

const log = Math.log10(0.001);
const step = (p) => Math.round((palette.steps - 1) * (1 - Math.min(1, Math.max(0, Math.log10(Math.max(p, 1e-9)) / log))));
const share = (p) => (p >= 0.9995 ? "1.00" : p >= 0.0005 ? p.toFixed(3).slice(1) : "<.001");

function paint() {
  const cycle = lane.cycle, grid = lane.grid(cycle);
  element.classList.toggle("empty", !lane.run);
  scroller.hidden = key.hidden = detail.hidden = !grid;
  note.hidden = !!grid;
  if (!lane.run) return;
  element.style.setProperty("--method", lane.color);
  if (!grid) {
    note.textContent = !cycle ? "The first cycle has not come in yet."
      : lane.run.method === "none" ? "Plain decoding: each step is one verifier forward and one token. There is no draft to show."
      : cycle.submitted ? "This cycle was recorded without its candidates." : "No draft in this step: the engine decoded one token plainly.";
    return;
  }
  if (shape !== `${grid.slots}x${grid.ranks}`) build(grid.slots, grid.ranks);
  const {slots, ranks} = grid, {accepted, submitted} = cycle, scales = [scale("probability"), scale("dimmed")];
  anchor.replaceChildren(make("bdi", "tok", lane.show(cycle.anchor)));
  anchor.title = `anchor: the last committed token, position ${cycle.position}`;
  for (let j = 0; j < slots; j++) {
    const verdict = lane.verdict(cycle, j), unsent = j >= submitted, late = j > accepted || unsent;
    let held = -1;
    for (let k = 0; k < ranks; k++) {
      const {td, tok, p} = cells[j][k], id = grid.ids[j * ranks + k];
      const probability = Math.exp(grid.logits[j * ranks + k] - grid.lognorm[j]);
      const [fill, text] = scales[+late][step(probability)];
      const ringed = verdict?.id === id, chosen = cycle.ranks[j] === k;
      if (ringed) held = k;
      tok.textContent = lane.show(id);
      p.textContent = share(probability);
      td.style.backgroundColor = fill;
      td.style.color = text;
      td.className = [chosen && "chosen", k === 0 && cycle.ranks[j] !== 0 && "argmax", ringed && (verdict.late ? "ring later" : "ring"),
                      late && "dim", unsent && "unsent", chosen && j < accepted && "taken"].filter(Boolean).join(" ");
      td.setAttribute("aria-label", [`slot ${j + 1} rank ${k + 1}: ${tok.textContent}, probability ${share(probability)}`, chosen && "chosen",
        ringed && (verdict.late ? "committed later" : "the verifier's token")].filter(Boolean).join(", "));
    }
    const state = unsent ? "unsent" : j < accepted ? "taken" : j === accepted ? "refused" : "after";
    heads[j].className = `slot ${state}`;
    heads[j].lastChild.textContent = {unsent: "not sent", taken: "✓", refused: "✗", after: "–"}[state];
    heads[j].title = {unsent: "not submitted to the verifier", taken: "accepted", refused: "refused: the first error", after: "behind the first error, not considered"}[state];
    feet[j].className = verdict ? (held < 0 ? "missing" : "held") + (verdict.late ? " late" : "") : "unknown";
    feet[j].replaceChildren(...(verdict ? [make("bdi", "tok", lane.show(verdict.id)), make("span", "where", held < 0 ? "not in pool" : `rank ${held + 1}`)] : [make("span", "where", "text ends")]));
    feet[j].title = !verdict ? "the run ended before this position" : verdict.late ? "committed here later" : "the verifier's choice, given the accepted tokens";
  }
  const last = cycle.committed.length > accepted ? `${accepted < submitted ? "replacement" : "bonus"} ${quote(cycle.committed.at(-1))}` : "end of the text";
  words.replaceChildren(`Cycle ${cycle.index + 1}: anchor ${quote(cycle.anchor)} at position ${cycle.position}; `,
    make("b", "", `${accepted} of ${submitted} accepted`), `, then ${last}`);
  spot ??= {j: 0, k: 0};
  describe(spot.j, spot.k);
  paths();
}

const quote = (id) => `“${lane.show(id)}”`;

// Lines run in the gaps between columns, never over a token.
function paths() {
  const cycle = lane.cycle, grid = lane.grid(cycle);
  if (!grid || !cells[0]?.[0].td.offsetWidth) return;
  const box = ({td}) => ({left: td.offsetLeft + td.clientLeft, right: td.offsetLeft + td.offsetWidth, top: td.offsetTop, height: td.offsetHeight});
  const columns = cells.map((column) => box(column[0])), {height, top} = columns[0];
  const pitch = cells[0].length > 1 ? cells[0][1].td.offsetTop - top : height;
  const y = (k) => top + k * pitch + height / 2;
  const draw = (tag, attributes) => {
    const node = svg.appendChild(document.createElementNS(svg.namespaceURI, tag));
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  svg.replaceChildren();
  svg.setAttribute("width", table.offsetWidth);
  svg.setAttribute("height", table.offsetHeight);
  const start = anchor.offsetLeft + anchor.offsetWidth;
  const join = (name, rank) => {
    let d = "", from = {x: start, y: y(0)};
    columns.forEach((column, j) => {
      const k = rank(j);
      if (k < 0) { from = null; return; }
      if (from) d += `M${from.x} ${from.y}C${column.left - 2} ${from.y} ${from.x + 2} ${y(k)} ${column.left} ${y(k)}`;
      from = {x: column.right, y: y(k)};
    });
    draw("path", {class: name, d});
  };
  if (cycle.ranks.some((k) => k !== 0)) join("argmax", () => 0);
  join("chosen", (j) => cycle.ranks[j]);
  const a = cycle.accepted, gap = columns[0].left - start;
  const x = a === 0 ? columns[0].left - gap / 2 : columns[a - 1].right + gap / 2;
  draw("line", {class: "rule", x1: x, x2: x, y1: heads[0].offsetTop, y2: top + pitch * cells[0].length});
}

function describe(j, k) {
  const cycle = lane.cycle, grid = lane.grid(cycle);
  if (!grid || j >= grid.slots || k >= grid.ranks) return;
  spot = {j, k};
  const at = j * grid.ranks + k, id = grid.ids[at], logit = grid.logits[at];
  const parts = [`slot ${j + 1}, rank ${k + 1}`, `id ${id}`, `p = ${Math.exp(logit - grid.lognorm[j]).toPrecision(3)}`, `logit ${logit.toFixed(2)}`];
  const score = j && grid.walked ? grid.walked[(j - 1) * grid.ranks + k] : NaN;
  if (!Number.isNaN(score)) parts.push(`S from ${quote(grid.ids[(j - 1) * grid.ranks + cycle.ranks[j - 1]])} = ${score.toFixed(2)}`, `Δ = ${signed(score - logit)}`);
  if (j < cycle.submitted && cycle.drafted[j] === id && cycle.logprob[j] !== null) parts.push(`verifier's log p = ${cycle.logprob[j].toFixed(2)}`);
  detail.replaceChildren(make("bdi", "tok", lane.show(id)), make("span", "", parts.join("  ·  ")));
}
const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);

const KEY = [["chosen", "chosen path"], ["argmax", "drafter's argmax, where it differs"], ["ring", "verifier's token"], ["ring later", "token committed there later"],
             ["rule", "acceptance point"], ["dim", "behind it: not considered"], ["unsent", "not submitted"]];
for (const [name, label] of KEY) key.appendChild(make("li")).append(make("span", "sample " + name), make("span", "", label));
const ramp = key.appendChild(make("li", "ramp"));
ramp.title = props.probability;
const bar = make("span", "bar");
ramp.append("draft probability .001", bar, "1 (log scale)");
const dye = () => { bar.style.background = `linear-gradient(to right, ${scale("probability").filter((_, i) => i % 9 === 0).map(([fill]) => fill)})`; };

// The pointer or the focus picks the cell that the line below describes; a click shows the slot pair that leads to it.
const cellOf = (event) => event.target.closest("td[data-slot]");
table.addEventListener("mouseover", (event) => { const td = cellOf(event); if (td) describe(+td.dataset.slot, +td.dataset.rank); });
table.addEventListener("focusin", (event) => { const td = cellOf(event); if (td) describe(+td.dataset.slot, +td.dataset.rank); });
table.addEventListener("click", (event) => {
  const td = cellOf(event);
  if (!td) return;
  move(+td.dataset.slot, +td.dataset.rank);
  lane.setPair(Math.max(0, td.dataset.slot - 1));
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
  if (!td) return;
  const j = +td.dataset.slot, k = +td.dataset.rank;
  const to = {ArrowLeft: [j - 1, k], ArrowRight: [j + 1, k], ArrowUp: [j, k - 1], ArrowDown: [j, k + 1], Home: [0, k], End: [cells.length - 1, k]}[event.key];
  if (to) { move(...to); event.preventDefault(); }
  if (event.key === "Enter") lane.setPair(Math.max(0, j - 1));
});

lane.on("run cycles select", paint);
new ResizeObserver(paths).observe(table);
onTheme(() => { dye(); paint(); });
dye();
