const lane = window.dcoco.lanes[props.lane], {make, explain, glyphs} = window.dcoco;
element.dataset.lane = props.lane;

const head = element.appendChild(make("h2"));
const glyph = head.appendChild(make("span", "glyph"));
glyph.setAttribute("aria-hidden", "true");
const name = head.appendChild(make("span", "name"));
const title = head.appendChild(make("bdi", "title"));
const note = head.appendChild(make("span", "note"));
const parent = head.appendChild(make("button", "parent"));
parent.type = "button";
parent.title = "Open the run that this one branched off, at the cycle where it did";
parent.addEventListener("click", () => {
  const {run, cycle} = lane.run.parent;
  window.dcoco.open({view: "explore", runs: [run], cycle: cycle + 1});
});
const list = element.appendChild(make("dl"));
const values = new Map();
for (const row of props.rows) {
  const item = list.appendChild(make("div", "item item-" + row.name));
  explain(item.appendChild(make("dt")), row.label, row, `${props.lane}-${row.name}`);
  const value = item.appendChild(make("dd"));
  const number = value.appendChild(make("span", "number"));
  if (row.unit) value.append(make("span", "unit", row.unit));
  values.set(row.name, number);
}

lane.on("run figures", () => {
  const run = lane.run;
  element.classList.toggle("empty", !run);
  if (!run) return;
  element.style.setProperty("--method", lane.color);
  glyph.textContent = glyphs[run.method];
  name.textContent = run.label;
  title.textContent = run.name;
  title.hidden = !run.name;
  parent.hidden = !run.parent;
  if (run.parent) parent.textContent = `branch of another run: cycle ${run.parent.cycle + 1}, slot ${run.parent.slot}, rank ${run.parent.rank + 1}`;
  const states = {waiting: "waiting for its turn", running: "decoding", done: ""};
  const ends = {stop: "end of text", length: "token limit", abort: "stopped", error: "engine stopped"};
  const asked = [run.method === "none" ? "" : `${run.walk} walk, ${run.slots} slots`, `T = ${run.temperature}`];
  note.textContent = [...asked, states[lane.state] || ends[run.finish] || ""].filter(Boolean).join(" · ");
  for (const [key, node] of values) node.textContent = lane.figures?.[key] ?? "–";
});
