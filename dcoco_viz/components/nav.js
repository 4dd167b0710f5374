// Tabs, the keys that work everywhere, and the address bar.
const {make, lanes} = window.dcoco;
const bar = element.appendChild(make("div", "bar")), list = bar.appendChild(make("div", "tabs"));
list.setAttribute("role", "tablist");
list.setAttribute("aria-label", "Views");

const tabs = Object.entries(props.views).map(([name, label]) => {
  const tab = list.appendChild(make("button", "", label));
  Object.assign(tab, {type: "button", id: `dv-tab-${name}`});
  tab.dataset.view = name;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", `dv-panel-${name}`);
  tab.addEventListener("click", () => visit({view: name}));
  return tab;
});

const help = bar.appendChild(make("button", "help"));
Object.assign(help, {type: "button", title: "Help (?)"});
help.setAttribute("aria-label", "Help");
help.setAttribute("aria-keyshortcuts", "?");
help.append(make("span", "words", "Help "), make("kbd", "", "?"));
help.addEventListener("click", () => window.dcoco.help());

let runs = [], number = -1, step = false; // step: the view was changed, so that the browser's Back leads here again
const view = () => document.body.dataset.view;

function show(name) {
  document.body.dataset.view = name;
  for (const tab of tabs) {
    const here = tab.dataset.view === name, panel = document.getElementById(`dv-panel-${tab.dataset.view}`);
    tab.setAttribute("aria-selected", here);
    tab.tabIndex = here ? 0 : -1;
    panel?.setAttribute("role", "tabpanel");
    panel?.setAttribute("aria-labelledby", tab.id);
  }
  window.dispatchEvent(new Event("resize")); // what was hidden has a size now
  note();
}

function visit(place) {
  step ||= place.view !== view();
  show(place.view);
  trigger("visit", place);
}

list.addEventListener("keydown", (event) => {
  const i = tabs.indexOf(event.target), last = tabs.length - 1;
  const to = {ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: last}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const tab = tabs[(to + tabs.length) % tabs.length];
  tab.focus();
  tab.click();
});

// Keys that work in every view, wherever nobody is typing.
const TYPED = "textarea, select, [contenteditable], [role=listbox], input:not([type=range], [type=checkbox], [type=radio], [type=button])";
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(TYPED)) return;
  if (event.key === "?") window.dcoco.help();
  else if (event.key === "c") visit({view: "compare"});
  else return;
  event.preventDefault();
});

// The address follows what is seen; the history gets an entry for a view, not for every cycle.
let due = null;
function note() {
  clearTimeout(due);
  if (number < 0) return; // the server has yet to read the address that the page was opened with
  due = setTimeout(() => {
    const lane = window.dcoco.focus, shown = view() === "explore" ? [lanes.a, lanes.b].map((l) => l.run?.id).filter(Boolean) : runs;
    const query = new URLSearchParams(location.search);
    const put = (key, value) => (value ? query.set(key, value) : query.delete(key));
    put("run", shown.join(","));
    put("cycle", view() === "explore" && lane.cycle ? lane.selected + 1 : "");
    put("method", view() === "explore" && lane.run ? lane.run.method : "");
    put("view", view());
    const next = `${location.pathname}?${query.toString().replaceAll("%2C", ",")}`;
    if (next !== location.pathname + location.search) history[step ? "pushState" : "replaceState"](null, "", next);
    step = false;
  }, 150);
}
// Back and Forward: the picture of that address; of a run under way, whose lanes are being written, only the view.
window.addEventListener("popstate", () => {
  const query = new URLSearchParams(location.search), busy = Object.values(lanes).some((lane) => lane.running);
  const asked = query.get("run")?.split(",").filter(Boolean) ?? [];
  const asks = query.get("view"), place = {view: asks in props.views ? asks : tabs[0].dataset.view};
  if (!busy) Object.assign(place, {runs: asked, cycle: +query.get("cycle") || null, method: query.get("method")});
  visit(place);
  step = false;
});

for (const lane of Object.values(lanes)) for (const type of ["run", "select"]) lane.addEventListener(type, note);

function arrive() {
  const value = props.value;
  if (!value || value.number === number) return;
  number = value.number;
  document.body.dataset.arrived = ""; // what the address asks for is on its way into the views
  runs = value.runs;
  window.dcoco.wish = value.cycle ? {run: value.run, cycle: value.cycle - 1} : null;
  Object.values(lanes).some((lane) => lane.grant());
  show(value.view || view());
}

window.dcoco.open = visit;
window.dcoco.view = view;
show(tabs[0].dataset.view);
watch("value", arrive);
arrive();
