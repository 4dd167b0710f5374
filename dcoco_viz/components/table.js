const {make, explain, compared} = window.dcoco;
const title = element.appendChild(make("h3", "", "Numbers"));
const scroller = element.appendChild(make("div", "scroller"));
const table = scroller.appendChild(make("table"));
Object.assign(scroller, {tabIndex: 0});
scroller.setAttribute("role", "region");
scroller.setAttribute("aria-label", "Numbers of the compared runs");
const note = element.appendChild(make("p", "note"));

const caption = table.createCaption();
caption.textContent = "One row for each way to decode";
const top = table.createTHead().insertRow();
const column = (name, label, definition) => {
  const th = top.appendChild(make("th", name));
  th.scope = "col";
  explain(th, label, definition, `compare-${name}`);
  const tip = th.lastChild, place = () => { // fixed, or the scroller would cut it
    const box = th.getBoundingClientRect();
    tip.style.top = `${box.bottom}px`;
    tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - 340))}px`;
  };
  th.addEventListener("mouseenter", place);
  th.addEventListener("focusin", place);
  return th;
};
Object.assign(top.appendChild(make("th", "who", "method")), {scope: "col"});
for (const one of props.columns) {
  const th = column(one.name, one.label, one);
  if (one.unit) th.append(make("span", "unit", one.unit));
}
column("histogram", props.histogram.label, props.histogram);
const body = table.createTBody();

function paint() {
  const rows = props.value?.rows ?? [];
  element.dataset.kind = rows.length ? "shown" : "none";
  const bins = Math.max(0, ...rows.map((row) => row.histogram?.length ?? 0));
  const share = (row) => { const all = row.histogram.reduce((a, b) => a + b, 0); return row.histogram.map((n) => n / (all || 1)); };
  const most = Math.max(1e-9, ...rows.filter((row) => row.histogram).flatMap(share));
  body.replaceChildren(...rows.map((row) => {
    const tr = make("tr"), th = tr.appendChild(make("th", "who"));
    tr.dataset.run = row.id;
    tr.style.setProperty("--method", `var(--method-${row.method})`);
    th.scope = "row";
    compared.title(th, row);
    if (row.count > 1) th.append(make("span", "count", `${row.count} repeats`));
    if (row.left_out) th.append(make("span", "count", `${compared.plural(row.left_out, "run")} broken off, left out`));
    else if (["abort", "error", null].includes(row.finish)) th.append(make("span", "count", "broken off"));
    for (const {name} of props.columns) {
      const cell = row.cells[name], td = tr.insertCell();
      td.className = name + (cell.best ? " best" : "");
      const number = td.appendChild(make("span", "number", cell.text ?? "–"));
      if (cell.best) number.append(Object.assign(make("span", "star", "★"), {title: "the best of this column"}), make("span", "hush", " best"));
      if (cell.range) td.append(make("span", "range", cell.range));
    }
    tr.insertCell().append(row.histogram ? bars(row, share(row), most, bins) : make("span", "nothing", "no drafts"));
    return tr;
  }));
  note.textContent = [
    rows.length > 1 && rows.every((row) => row.count === 1) && "Each was decoded once: what else the machine did meanwhile is in the times. Repeat before you believe a difference.",
    rows.some((row) => row.count > 1) && `Numbers are ${props.repeats.formula}. ${props.repeats.text}`,
    rows.length && !props.value.baseline && "No run of plain decoding on the same prompt is among these, so there is no speed-up to show.",
    "Times are those of recorded runs: what recording a cycle costs is in them.",
  ].filter(Boolean).join(" ");
}

// Each bar with its count above and its length below, and all of it in words.
function bars(row, shares, most, bins) {
  const list = make("ol", "bars");
  list.setAttribute("aria-label", "Cycles by accepted length");
  for (let n = 0; n < bins; n++) {
    const count = row.histogram[n], item = list.appendChild(make("li"));
    item.append(make("span", "hush", `${n} accepted: `), make("b", count ? "" : "zero", count === undefined ? " " : String(count)), make("i"), make("small", "", String(n)));
    item.lastChild.setAttribute("aria-hidden", "true");
    item.children[2].style.height = `${count ? Math.max(1, (30 * shares[n]) / most) : 0}px`;
    if (count !== undefined) item.title = `${n} accepted: ${compared.plural(count, "cycle")}`;
  }
  return list;
}
watch("value", paint);
paint();
