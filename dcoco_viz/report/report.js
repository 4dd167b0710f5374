// Gives each view what Gradio gives it, from the data in this file, and writes what stands around the views.
(() => {
  const {make, lanes, glyphs} = window.dcoco;
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const matter = data("matter"), {heads} = matter, several = heads.length > 1, root = document.getElementById("report");

  const theme = matchMedia("(prefers-color-scheme: dark)");
  const dress = (dark) => document.body.classList.toggle("dark", dark);
  theme.addEventListener("change", () => dress(theme.matches));
  addEventListener("beforeprint", () => dress(false)); // paper is white
  addEventListener("afterprint", () => dress(theme.matches));
  dress(theme.matches);

  const section = (title) => {
    const node = root.appendChild(make("section"));
    node.append(make("h2", "", title));
    return node;
  };
  const scroll = (parent, label) => {
    const box = parent.appendChild(make("div", "scroller"));
    Object.assign(box, {tabIndex: 0, role: "region", ariaLabel: label});
    return box;
  };

  // The name of a run at the head of a column or row.
  function named(th, head, scope) {
    th.scope = scope;
    th.className = "run";
    th.style.setProperty("--method", `var(--method-${head.method})`);
    const glyph = make("span", "glyph", glyphs[head.method]);
    glyph.setAttribute("aria-hidden", "true");
    th.append(glyph, head.way);
    if (several) th.append(make("span", "title", head.title));
  }

  function table(parent, label) {
    const node = scroll(parent, label).appendChild(make("table"));
    node.appendChild(make("caption", "sr", label));
    const top = node.createTHead().insertRow();
    top.appendChild(make("td"));
    return {top, body: node.createTBody()};
  }

  function row(body, words, values) {
    const tr = body.insertRow(), th = tr.appendChild(make("th", "", words));
    th.scope = "row";
    tr.append(...values.map((value) => make("td", "", value ?? "–")));
    return th;
  }

  // A column for every run.
  function list(parent, rows, label) {
    const {top, body} = table(parent, label);
    for (const head of heads) named(top.appendChild(make("th")), head, "col");
    for (const {label: words, unit, values} of rows) row(body, words, values.map((value) => (value === null ? null : value + (unit ? ` ${unit}` : ""))));
  }

  function ask() {
    const node = section("What was asked");
    const groups = new Map();
    for (const head of heads) groups.set(JSON.stringify(head.asked), [...(groups.get(JSON.stringify(head.asked)) ?? []), head]);
    for (const group of groups.values()) {
      const {system, history, prompt} = group[0].asked;
      if (groups.size > 1) node.append(make("h3", "", group.map((head) => head.way).join("; ")));
      const words = node.appendChild(make("dl", "asked"));
      for (const [who, said] of [system && ["system", system], ...history, ["prompt", prompt]].filter(Boolean))
        words.append(make("dt", "", who), Object.assign(make("dd", "", said), {tabIndex: 0})); // a long one scrolls
    }
  }

  // A row for every run.
  function histogram() {
    const [first] = matter.histograms;
    if (!first.length) return;
    const {top, body} = table(section("Cycles by the number of tokens they accepted"), "Cycles by accepted length");
    first.forEach((_, n) => Object.assign(top.appendChild(make("th", "", n)), {scope: "col"}));
    heads.forEach((head, i) => named(row(body, "", matter.histograms[i].map(String)), head, "row"));
  }

  function define() {
    const terms = section("What the numbers are").appendChild(make("dl", "terms"));
    for (const {label, formula, text, paper} of matter.numbers) {
      const what = make("dd");
      what.append(make("code", "", formula), make("span", "", text + (paper ? ` The paper: ${paper}` : "")));
      terms.append(make("dt", "", label), what);
    }
  }

  // The shim. A report changes nothing, so what a view tells the server is heard by nobody.
  function mount(parent, {kind, props}, lane) {
    const element = parent.appendChild(make("div", `dv-${kind}`)), watched = [];
    const feed = kind === "feed", part = (name) => (feed ? data(`${name}-${lane.lane}`) : []); // large: read once
    const records = part("records"), scores = part("scores");
    const server = {
      records: async ({start, stop}) => records.slice(start, stop),
      scores: async ({pair, start, stop}) => Array.from({length: stop - start}, (_, i) => scores[start + i]?.[pair] ?? null),
    };
    const refuse = async () => { throw new Error("a report takes no files"); };
    window.views[kind](element, () => {}, {...props, value: feed ? lane.value : null}, feed ? server : {}, refuse, (name, call) => watched.push(call));
  }

  function show(parent, lane, head) {
    lanes[lane.lane] ??= new lanes.a.constructor(lane.lane);
    const node = parent.appendChild(make("section", "dv-lane"));
    node.id = `run-${lane.lane}`;
    node.append(make("h2", "", several ? head.title : "The run, cycle by cycle"));
    if (lane.scored < lane.count)
      node.append(make("p", "note", lane.scored
        ? `To keep this file small, the transition scores of cycles ${lane.scored + 1} to ${lane.count} are left out of it: their heatmaps are empty, although the scores were recorded.`
        : "To keep this file small, the transition scores are left out of it: the heatmaps are empty, although the scores were recorded."));
    const under = make("div", "dv-under"), side = make("div", "side");
    for (const view of lane.views) {
      const below = {transitions: under, timing: side, coverage: side}[view.kind];
      if (below === under) node.append(under);
      mount(below ?? node, view, lane);
    }
    under.append(side);
  }

  // What leads to another picture on the page leads to another run here, if it is in the file.
  window.dcoco.open = ({runs, cycle}) => {
    const lane = matter.lanes.map(({lane}) => lanes[lane]).find((lane) => lane.run?.id === runs?.[0]);
    if (!lane) { alert("That run is not in this report."); return; }
    if (cycle) lane.scrub(cycle - 1);
    document.getElementById(`run-${lane.name}`).scrollIntoView();
  };

  document.body.dataset.view = "explore"; // the keys of its views work
  const size = data("bytes");
  root.replaceChildren();
  const top = root.appendChild(make("header"));
  top.append(make("h1", "", several ? `${heads.length} runs compared` : heads[0].title),
    make("p", "", `Report by dcoco-viz ${matter.app}, ${matter.made.replace("T", " ").replace("+00:00", " UTC")}. One file of ${(size / 2 ** 20).toFixed(1)} MB that needs no network; its pictures answer to pointer and keys, as on the page.`));
  document.title = `${several ? `${heads.length} runs` : heads[0].title} · dcoco-viz report`;
  ask();
  list(section("Numbers"), matter.numbers, "Numbers of each run");
  const tau = matter.numbers.find((row) => row.name === "tau");
  if (tau) root.lastChild.append(make("p", "note", `${tau.label} = ${tau.formula}. ${tau.text}`));
  const pictures = root.appendChild(make("div", "lanes"));
  matter.lanes.forEach((lane, i) => show(pictures, lane, heads[i]));
  histogram();
  list(section("Settings and machine"), matter.settings, "Settings of each run");
  define();
})();
