const lane = window.dcoco.lanes[props.lane], {make, explain} = window.dcoco;
element.dataset.lane = props.lane;

const title = element.appendChild(make("h3"));
explain(title, "Coverage by slot", props.definition, `${props.lane}-coverage`);
const scroller = element.appendChild(make("div", "scroller"));
scroller.tabIndex = 0; // narrow pages scroll it, with keys too
scroller.setAttribute("role", "group");
scroller.setAttribute("aria-label", "Coverage by slot");
const table = scroller.appendChild(make("table"));

const ROWS = [["16", "in the 16"], ["1", "rank 1"]];

lane.on("run figures", () => {
  const found = lane.figures?.coverage;
  element.classList.toggle("empty", !lane.run);
  scroller.hidden = !found;
  if (!lane.run) return;
  element.style.setProperty("--method", lane.color);
  if (!found) { table.replaceChildren(); return; }
  const caption = make("caption");
  caption.append(make("span", "words", `Share of drafted slots that held the token committed there; ${found.counts[0]} cycles`));
  const slots = found.counts.map((n, j) => j);
  const row = (name, cells) => {
    const tr = make("tr"), th = tr.appendChild(make("th", "", name));
    th.scope = "row";
    tr.append(...cells);
    return tr;
  };
  const bars = row("", slots.map((j) => {
    const td = make("td", "bar");
    td.title = `slot ${j + 1}: ${found[16][j] ?? "–"} in the 16, ${found[1][j] ?? "–"} at rank 1, of ${found.counts[j]}`;
    td.append(...ROWS.map(([k]) => Object.assign(make("i", "k" + k), {style: `height: ${100 * (found[k][j] ?? 0)}%`})));
    return td;
  }));
  bars.setAttribute("aria-hidden", "true");
  const numbers = ROWS.map(([k, name]) => row(name, slots.map((j) => make("td", "", (found[k][j] ?? "–").replace(/^0(?=\.)/, "")))));
  const head = row("slot", slots.map((j) => Object.assign(make("th", "", j + 1), {scope: "col"})));
  table.replaceChildren(caption, bars, head, ...numbers);
});
