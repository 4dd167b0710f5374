// Walks side by side. Rows are made anew with every value; the head, with its definitions, stands.
const {make, explain} = window.dcoco;
const empty = element.appendChild(make("p", "empty"));
const notes = element.appendChild(make("ul", "notes"));
const scroller = element.appendChild(make("div", "scroller"));
const details = element.appendChild(make("ul", "notes details"));
const table = scroller.appendChild(make("table"));
table.appendChild(make("caption", "sr", "Walks replayed on the recorded cycles of this run"));
const head = table.createTHead().insertRow(), body = table.createTBody();
const column = (text) => Object.assign(head.appendChild(make("th", "", text)), {scope: "col"});
column("walk");
for (const found of props.columns) explain(column(""), found.label, found, "lab-" + found.name);
column("").append(make("span", "sr", "remove"));
const BEST = ["replay_accepted", "dense_tau", "estimated_tokens_per_second"];

function paint() {
  const value = props.value;
  element.hidden = !value;
  if (!value) return;
  empty.textContent = value.empty;
  empty.hidden = !value.empty;
  scroller.hidden = notes.hidden = details.hidden = !!value.empty;
  notes.replaceChildren(...value.notes.map((text) => make("li", "", text)));
  details.replaceChildren(...value.details.map((text) => make("li", "", text)));
  head.cells[1].querySelector(".dv-term").textContent = value.exact === false ? "agreement" : "accepted";
  const best = Object.fromEntries(BEST.map((name) => [name, Math.max(...value.rows.map((row) => row[name] ?? -Infinity))]));
  const longest = Math.max(1, ...value.rows.map((row) => row.histogram.findLastIndex((n) => n > 0)));
  body.replaceChildren(...value.rows.map((row) => line(row, best, longest)));
}

function line(row, best, longest) {
  const tr = make("tr", row.own ? "own" : "");
  tr.dataset.walk = row.walk;
  const th = Object.assign(tr.appendChild(make("th")), {scope: "row"});
  th.append(make("code", "", row.walk));
  if (row.own) th.append(make("span", "tag", "this run's own"));
  for (const {name} of props.columns) {
    const td = tr.appendChild(make("td", name));
    const number = td.appendChild(make("span", "number", row[name] ?? "–"));
    if (row[name] !== null && best[name] === +row[name]) number.classList.add("best");
    if (name === "replay_accepted") td.append(bars(row, longest));
    if (name === "replay_difference" && !row.own) {
      const [better, worse, equal] = row.cycles;
      td.append(make("span", "cycles", `${better} better · ${worse} worse · ${equal} equal`));
    }
  }
  const last = tr.appendChild(make("td", "drop"));
  if (!row.own) {
    const button = last.appendChild(make("button", "", "×"));
    Object.assign(button, {type: "button", title: `Take ${row.walk} out of the table`});
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => trigger("drop", {walk: row.walk}));
  }
  return tr;
}

function bars(row, longest) {
  const strip = make("span", "bars"), most = Math.max(...row.histogram);
  const words = row.histogram.map((n, length) => `${n} × ${length}`).filter((_, length) => row.histogram[length]).join(", ");
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", "cycles by length: " + words);
  strip.title = `cycles × length: ${words}`;
  strip.append(...row.histogram.slice(0, longest + 1).map((n) => {
    const bar = make("i");
    bar.style.height = n ? `${Math.max(8, (100 * n) / most)}%` : "0";
    return bar;
  }));
  return strip;
}
watch("value", paint);
paint();
