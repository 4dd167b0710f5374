// Two walks over the same cycles: where they part, and one cycle with both paths. A is the first walk, B the second.
const {make, explain, visible} = window.dcoco;
const LEFT = 118, WIDE = 118, TALL = 44, TOP = 34, BOX = [78, 26], MOST = 200;
const title = element.appendChild(make("h3", "", "Where two walks part"));
const tools = element.appendChild(make("div", "tools"));
const choices = ["A", "B"].map((name) => {
  const label = tools.appendChild(make("label", "choice", `Walk ${name} `)), select = label.appendChild(make("select"));
  label.dataset.path = name;
  select.addEventListener("change", list);
  return select;
});
const note = tools.appendChild(make("p", "note"));
note.setAttribute("role", "status");
const columns = element.appendChild(make("div", "columns"));
const rows = columns.appendChild(make("div", "list"));
rows.setAttribute("role", "listbox");
rows.setAttribute("aria-label", "Cycles in which the two walks part");
const side = columns.appendChild(make("div", "side"));
const head = side.appendChild(make("div", "head")), words = head.appendChild(make("p", "words"));
const leave = head.appendChild(make("button", "", "Open this cycle in Explore"));
leave.type = "button";
leave.addEventListener("click", () => window.dcoco.open({view: "explore", runs: [props.value.run], cycle: shown + 1}));
const scroller = side.appendChild(make("div", "scroller"));
scroller.tabIndex = 0;
scroller.setAttribute("role", "region");
scroller.setAttribute("aria-label", "Both paths through the cycle");
const svg = scroller.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
svg.setAttribute("aria-hidden", "true"); // the table under it says the same
const table = scroller.appendChild(make("table"));
const key = side.appendChild(make("ul", "key"));
for (const [sample, text] of [["a", "path of A"], ["b", "path of B"], ["true", "the token of the text"], ["rule", "a walk's acceptance point"]]) {
  const item = key.appendChild(make("li"));
  item.append(make("span", "sample " + sample), text);
}
explain(key.appendChild(make("li")), "S and its sum", props.definition, "parting-sum");

let shown = -1, asked = 0, about = "";
const query = () => ({...props.value, a: choices[0].value, b: choices[1].value});

function begin() {
  const value = props.value;
  element.hidden = !value;
  if (!value) return;
  element.style.setProperty("--method", `var(--method-${value.method})`);
  const before = choices.map((select) => select.value);
  choices.forEach((select, i) => {
    select.replaceChildren(...value.walks.map((name) => new Option(name, name)));
    select.value = value.walks.includes(before[i]) ? before[i] : value.walks[Math.min(i, value.walks.length - 1)];
  });
  if (choices[0].value === choices[1].value && value.walks.length > 1)
    choices[1].value = value.walks.find((name) => name !== choices[0].value);
  if (about !== value.run) shown = -1;
  about = value.run;
  list();
}

async function list() {
  const ticket = ++asked;
  let found;
  try { found = await server.cycles(query()); } catch { found = {error: "The server does not answer."}; }
  if (ticket !== asked) return;
  const partings = found.partings ?? [], differ = partings.filter((p) => p.accepted[0] !== p.accepted[1]).length;
  columns.hidden = !partings.length;
  note.textContent = found.error ?? (partings.length
    ? `They part in ${partings.length} of ${found.of} cycles, and accept different lengths in ${differ}.` + (partings.length > MOST ? ` The first ${MOST} are listed.` : "")
    : `In all ${found.of} cycles the two submit the same tokens.`);
  element.dataset.ready = `${choices[0].value} ${choices[1].value}`;
  rows.replaceChildren(...partings.slice(0, MOST).map((p) => {
    const row = make("div", "row"), [a, b] = p.accepted;
    row.setAttribute("role", "option");
    Object.assign(row.dataset, {cycle: p.cycle, slot: p.slot, a, b});
    row.append(make("span", "cycle", `cycle ${p.cycle + 1}`), make("span", "slot", `slot ${p.slot + 1}`),
      make("span", "lengths", a === b ? `both ${a}` : `A ${a} · B ${b}`));
    row.addEventListener("click", () => pick(row));
    return row;
  }));
  const row = [...rows.children].find((r) => +r.dataset.cycle === shown) ?? rows.firstElementChild;
  if (row) pick(row);
}

rows.addEventListener("keydown", (event) => {
  const all = [...rows.children], i = all.indexOf(document.activeElement);
  const to = {ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1}[event.key];
  if (i < 0 || to === undefined) return;
  event.preventDefault();
  const row = all[Math.max(0, Math.min(all.length - 1, to))];
  row.focus();
  pick(row);
});

async function pick(row) {
  for (const other of rows.children) { other.setAttribute("aria-selected", other === row); other.tabIndex = other === row ? 0 : -1; }
  shown = +row.dataset.cycle;
  const ticket = asked, cycle = shown;
  let found;
  try { found = await server.drawn({...query(), cycle}); } catch { found = {error: "The server does not answer."}; }
  if (ticket !== asked || cycle !== shown) return;
  if (found.error) { note.textContent = found.error; return; }
  draw(found, +row.dataset.slot);
}

const node = (tag, name, attributes = {}, text = "") => {
  const out = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  out.setAttribute("class", name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  if (text) out.textContent = text;
  return out;
};
const short = (text, most = 9) => ([...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text);

function draw(found, first) {
  const {nodes, paths, truth} = found, slots = nodes.length, ranks = [...new Set(nodes.flat().map((n) => n.rank))].sort((a, b) => a - b);
  const x = (j) => LEFT + j * WIDE + WIDE / 2, y = (rank) => TOP + ranks.indexOf(rank) * TALL + TALL / 2, height = TOP + ranks.length * TALL;
  svg.replaceChildren();
  svg.setAttribute("width", LEFT + slots * WIDE);
  svg.setAttribute("height", height + 6);
  for (const rank of ranks) node("text", "rank", {x: LEFT - 8, y: y(rank) + 4}, `rank ${rank + 1}`);
  for (let j = 0; j < slots; j++) node("text", "slot" + (j === first ? " first" : ""), {x: x(j), y: 14}, `slot ${j + 1}`);
  paths.forEach((path, which) => { // edges under nodes; where both go, they run side by side
    const other = paths[1 - which];
    for (let j = 0; j + 1 < slots; j++) {
      const same = path.ranks[j] === other.ranks[j] && path.ranks[j + 1] === other.ranks[j + 1], shift = same ? (which ? 3 : -3) : 0;
      const [x1, x2, y1, y2] = [x(j) + BOX[0] / 2, x(j + 1) - BOX[0] / 2, y(path.ranks[j]) + shift, y(path.ranks[j + 1]) + shift];
      const late = j + 1 >= path.submitted ? " late" : "";
      node("line", `edge ${"ab"[which]}${late}`, {x1, y1, x2, y2});
    }
  });
  paths.forEach((path, which) => {
    const at = LEFT + path.accepted * WIDE + (which ? 4 : -4);
    node("line", `rule ${"ab"[which]}`, {x1: at, x2: at, y1: 20, y2: height});
    node("text", `end ${"ab"[which]}`, {x: at + (which ? 3 : -3), y: 30}, "AB"[which]);
  });
  nodes.forEach((column, j) => column.forEach((n) => {
    const names = `${n.on[0] ? " a" : ""}${n.on[1] ? " b" : ""}${n.true ? " true" : ""}`;
    const [left, top] = [x(j) - BOX[0] / 2, y(n.rank) - BOX[1] / 2];
    const box = node("rect", "node" + names, {x: left, y: top, width: BOX[0], height: BOX[1], rx: n.true ? 13 : 2, "data-slot": j, "data-rank": n.rank});
    if (n.true) node("rect", "ring", {x: left + 3, y: top + 3, width: BOX[0] - 6, height: BOX[1] - 6, rx: 10});
    const token = node("text", "token", {x: x(j), y: y(n.rank) + 4}, short(visible(n.token)));
    token.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "title")).textContent = visible(n.token);
    box.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "title")).textContent = visible(n.token);
  }));
  // The score of a step stands over the box that it leads to; under it, where the other walk comes from elsewhere.
  paths.forEach((path, which) => path.edges.forEach((s, j) => {
    const other = paths[1 - which], same = path.ranks[j] === other.ranks[j] && path.ranks[j + 1] === other.ranks[j + 1];
    if (same && which) return;
    const under = which && path.ranks[j + 1] === other.ranks[j + 1];
    node("text", `score ${same ? "both" : "ab"[which]}`, {x: x(j + 1), y: y(path.ranks[j + 1]) + (under ? 25 : -17)}, s);
  }));
  sums(found);
  const [a, b] = paths;
  words.textContent = `Cycle ${found.cycle + 1}: A ${a.walk} accepts ${a.accepted} of ${a.submitted} slots with a sum of ${a.sums.at(-1)}, B ${b.walk} ${b.accepted} of ${b.submitted} with ${b.sums.at(-1)}.`;
  scroller.scrollLeft = Math.max(0, x(first) - WIDE * 2.5 - LEFT);
  scroller.dataset.cycle = found.cycle;
  if (truth.every((t) => t === null)) words.textContent += " The text ended before this block.";
}

function sums({nodes, paths, truth}) {
  table.replaceChildren(make("caption", "sr", "Both paths slot by slot: token, score of the step, sum so far, and the token of the text"));
  table.style.width = `${LEFT + nodes.length * WIDE}px`;
  const body = table.createTBody();
  const line = (name, cells, kind) => {
    const tr = body.insertRow();
    tr.className = kind;
    Object.assign(tr.appendChild(make("th", "", name)), {scope: "row"});
    tr.append(...cells);
  };
  paths.forEach((path, which) => {
    const name = "AB"[which], verdict = (j) => (j < path.accepted ? "✓" : j >= path.submitted ? "–" : j === path.accepted ? "✗" : "·");
    const say = {"✓": "accepted", "✗": "refused", "·": "never looked at", "–": "not submitted"};
    line(`${name} token`, path.tokens.map((token, j) => {
      const td = make("td"), mark = td.appendChild(make("span", "mark", verdict(j)));
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", mark.title = say[verdict(j)]);
      const tok = td.appendChild(make("bdi", "tok", visible(token)));
      tok.title = visible(token);
      return td;
    }), "tokens " + name.toLowerCase());
    line(`${name} step S`, path.tokens.map((_, j) => make("td", "", j ? path.steps[j - 1] : "start")), "steps");
    line(`${name} sum of S`, path.sums.map((sum) => make("td", "", sum)), "sums");
  });
  line("text", truth.map((token, j) => {
    const td = make("td"), held = nodes[j].some((n) => n.true);
    td.append(make("bdi", "tok", token === null ? "–" : visible(token)));
    if (token !== null && !held) td.append(make("span", "out", "not in pool"));
    return td;
  }), "text");
}
watch("value", begin);
begin();
