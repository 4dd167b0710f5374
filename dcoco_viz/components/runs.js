// The table of runs. Search, order and selection live here; what changes a run goes to the server.
const {make, explain, button, runRow, runFile} = window.dcoco;
element.dataset.lane = props.lane;

const UNDO_MS = 20000;
const text = (name, label) => ({name, label, key: (row) => String(row[name] ?? "").toLowerCase()});
const COLUMNS = [
  {name: "title", label: "Name", key: (row) => row.title.toLowerCase()},
  text("prompt", "Prompt"),
  {name: "method", label: "Method", key: (row) => row.label.toLowerCase()},
  text("walk", "Walk"),
  {name: "slots", label: "Slots", number: true, key: (row) => row.slots},
  {name: "temperature", label: "T", number: true, key: (row) => row.temperature},
  ...props.numbers.map((n) => ({...n, definition: n, number: true, key: (row) => row.numbers[n.name]})),
  {name: "created", label: "When", key: (row) => row.created},
];

const state = {order: "created", down: true, words: "", chosen: new Set(), open: new Set(), made: new Map(), undo: null};

// Above the table: search, and what can be done with the selection.
const top = element.appendChild(make("div", "top"));
const search = top.appendChild(make("input", "search"));
Object.assign(search, {type: "search", placeholder: "Search names, prompts, methods"});
search.setAttribute("aria-label", "Search runs by name, prompt, method or walk");
search.addEventListener("input", () => { state.words = search.value; paint(); });
const count = top.appendChild(make("output", "count"));
const bar = element.appendChild(make("div", "bar"));
bar.setAttribute("role", "group");
bar.setAttribute("aria-label", "With the selected runs");
const told = bar.appendChild(make("output", "told"));
const go = (view) => () => window.dcoco.open({view, runs: picked()});
const acts = [
  [button(bar, "Open in Explore", "", go("explore")), 1, 2],
  [button(bar, "Compare", "", go("compare")), 2, props.most],
  ...[["Report", "html", props.most], ["Parquet", "parquet", props.most], ["JSON", "json", 1], ["CSV of cycles", "csv", 1]]
    .map(([words, ending, most]) => [button(bar, words, "", () => save(picked(), ending)), 1, most]),
  [button(bar, "Delete", "", () => forget(picked())), 1, Infinity],
  [button(bar, "Clear", "Clear the selection", () => { state.chosen.clear(); paint(); search.focus(); }), 1, Infinity],
];
const back = element.appendChild(make("div", "back"));
back.setAttribute("role", "status");

// The order of the selection is that of the screen.
const picked = () => shown().map((row) => row.id).filter((id) => state.chosen.has(id));

function save(ids, ending) {
  const link = element.appendChild(make("a"));
  Object.assign(link, {href: runFile(ids, ending), download: ""});
  link.click();
  link.remove();
}

function forget(ids) {
  const mine = ids.filter((id) => !rows().find((row) => row.id === id)?.sample);
  if (!mine.length) return;
  for (const id of mine) { state.chosen.delete(id); state.open.delete(id); }
  paint();
  trigger("forget", {runs: mine});
}

const scroller = element.appendChild(make("div", "scroller"));
const table = scroller.appendChild(make("table"));
table.appendChild(make("caption", "sr", "Runs"));
const heads = table.createTHead().insertRow();
const body = table.createTBody();
const empty = element.appendChild(make("div", "empty"));
element.append(make("p", "kept", props.note));

const all = make("input");
all.type = "checkbox";
all.setAttribute("aria-label", "Select all runs shown");
all.addEventListener("change", () => {
  for (const row of shown()) all.checked ? state.chosen.add(row.id) : state.chosen.delete(row.id);
  paint();
});
const corner = heads.appendChild(make("th", "check"));
corner.scope = "col";
corner.append(all);
for (const column of COLUMNS) {
  const th = column.th = heads.appendChild(make("th", `${column.name}${column.number ? " number" : ""}`));
  th.scope = "col";
  if (column.definition) {
    explain(th, column.head, column.definition, `runs-${column.name}`);
    for (const type of ["mouseover", "focusin"]) th.addEventListener(type, () => {
      const box = th.getBoundingClientRect(); // the tip must stick out of the scroller
      th.style.setProperty("--x", `${Math.max(8, Math.min(box.left, innerWidth - 340))}px`);
      th.style.setProperty("--y", `${box.bottom + 2}px`);
    });
  }
  const sort = () => { Object.assign(state, {down: state.order === column.name ? !state.down : !!column.number, order: column.name}); paint(); };
  column.sorter = button(th, column.definition ? "" : column.label, `Sort by ${column.label}`, sort, "sort");
  column.arrow = column.sorter.appendChild(make("span", "arrow"));
  column.arrow.setAttribute("aria-hidden", "true");
}
heads.appendChild(make("th", "more")).append(make("span", "sr", "Details"));

const rows = () => props.value?.rows ?? [];
const act = {
  choose: (id, on) => { on ? state.chosen.add(id) : state.chosen.delete(id); paint(); },
  toggle: (id) => { state.open.has(id) ? state.open.delete(id) : state.open.add(id); paint(); },
  rename: (id, name) => trigger("rename", {run: id, name}),
  edited: () => { if (state.late) paint(); },
  forget,
};

function shown() {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean), {key} = COLUMNS.find((c) => c.name === state.order);
  const found = rows().filter((row) => {
    const all = `${row.title} ${row.prompt} ${row.label} ${row.method} ${row.walk}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const compare = (x, y) => (typeof x === "number" ? x - y : x < y ? -1 : +(x > y));
  return found.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null); // nothing measured comes last, either way
    return state.down ? compare(y, x) : compare(x, y);
  });
}

function paint() {
  state.late = !!body.querySelector(".edit"); // a name is being typed: what has changed meanwhile is shown after it
  if (state.late) return;
  const held = document.activeElement, found = shown(), known = new Map(rows().map((row) => [row.id, row]));
  for (const id of [...state.chosen]) if (!known.has(id)) state.chosen.delete(id);
  for (const id of [...state.made.keys()]) if (!known.has(id)) state.made.delete(id);
  const nodes = found.flatMap((row) => {
    const json = JSON.stringify(row);
    if (state.made.get(row.id)?.json !== json) state.made.set(row.id, {json, ...runRow(row, props.numbers, act)});
    const {tr, details, check, toggle} = state.made.get(row.id), open = state.open.has(row.id);
    check.checked = state.chosen.has(row.id);
    tr.classList.toggle("chosen", check.checked);
    tr.classList.toggle("current", props.value.current.includes(row.id));
    toggle.textContent = open ? "▴" : "▾";
    toggle.setAttribute("aria-expanded", open);
    return open ? [tr, details] : [tr];
  });
  body.replaceChildren(...nodes);
  if (held !== document.activeElement && element.contains(held)) held.focus({preventScroll: true});
  for (const {name, th, arrow} of COLUMNS) {
    const here = name === state.order;
    th.ariaSort = here ? (state.down ? "descending" : "ascending") : "none";
    arrow.textContent = here ? (state.down ? "▼" : "▲") : "↕";
  }
  const chosen = picked(), mine = chosen.filter((id) => !known.get(id).sample);
  all.checked = found.length > 0 && chosen.length === found.length;
  all.indeterminate = chosen.length > 0 && !all.checked;
  told.textContent = chosen.length ? `${chosen.length} selected` : "Select runs to open, compare, save or delete them";
  for (const [node, least, most] of acts) node.disabled = chosen.length < least || chosen.length > most;
  acts.at(-2)[0].disabled = !mine.length;
  count.textContent = found.length === known.size ? `${known.size} run${known.size === 1 ? "" : "s"}` : `${found.length} of ${known.size} runs`;
  scroller.hidden = bar.hidden = !found.length;
  top.hidden = !known.size;
  vacant(found.length, known.size);
}

function vacant(found, known) {
  empty.hidden = found > 0;
  if (found) return;
  const words = known ? `No run has “${state.words.trim()}” in its name, prompt, method or walk.`
    : "No runs yet. Every prompt that you run in this browser is listed here, and so is every trace that you add.";
  empty.replaceChildren(make("p", "", words));
  if (known) button(empty, "Show all runs", "", () => { search.value = state.words = ""; paint(); search.focus(); });
  else button(empty, "Go to Explore", "", () => window.dcoco.open({view: "explore"}));
}

function offer() {
  clearTimeout(state.undo);
  const ids = props.value?.deleted ?? [];
  back.replaceChildren();
  back.hidden = !ids.length;
  if (!ids.length) return;
  back.append(make("span", "", ids.length === 1 ? "The run is deleted." : `${ids.length} runs are deleted.`));
  const undo = button(back, "Undo", "", () => { back.hidden = true; search.focus(); trigger("restore", {runs: ids}); });
  if (document.activeElement === document.body || document.activeElement.disabled) undo.focus(); // what was pressed is gone
  state.undo = setTimeout(() => { back.hidden = true; }, UNDO_MS);
}

// Up and down in the table: the same part of the next run.
table.addEventListener("keydown", (event) => {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key], tr = event.target.closest("tr[data-run]");
  if (!step || !tr || event.target.matches(".edit")) return;
  const all = [...body.querySelectorAll("tr[data-run]")], next = all[all.indexOf(tr) + step];
  const part = ["input[type=checkbox]", ".pen", ".open", ".toggle"].find((selector) => event.target.matches(selector));
  event.preventDefault();
  (next?.querySelector(part ?? ".open") ?? next?.querySelector(".open"))?.focus();
});

watch("value", () => { paint(); offer(); });
paint();
offer();
