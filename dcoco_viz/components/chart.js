// Figures drawn with plotly.js, their words, and their numbers as a table.
const {make, explain, onTheme} = window.dcoco;
window.dcoco.charts = (window.dcoco.charts ?? 0) + 1;
const id = `chart-${window.dcoco.charts}`;
const CONFIG = {displayModeBar: false, displaylogo: false, showTips: false}; // the tools below are buttons, which keys reach
const HEIGHT = 320; // of a figure that has none
const FROM_DATA = new Set(["name", "text", "hovertext", "customdata", "x", "y"]); // may come from users: never markup

const root = element.appendChild(make("figure"));
const words = root.appendChild(make("figcaption"));
const title = words.appendChild(make("h3")), note = words.appendChild(make("p", "note"));
note.id = `${id}-note`;
const row = root.appendChild(make("div", "panels"));
const details = root.appendChild(make("details"));
details.appendChild(make("summary", "", "Numbers"));
const tables = details.appendChild(make("div", "tables"));
let panels = [], shown = "";

// One copy of the library for all charts of the page, fetched when the first one is seen.
function library() {
  window.dcoco.plotly ??= new Promise((done, fail) => {
    const script = Object.assign(document.createElement("script"), {src: props.library});
    script.onload = () => done(window.Plotly);
    script.onerror = () => { window.dcoco.plotly = null; script.remove(); fail(new Error("plotly.js did not load")); };
    document.head.append(script);
  });
  return window.dcoco.plotly;
}

const each = (value, leaf) => Array.isArray(value) ? value.map((part) => each(part, leaf))
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, each(part, leaf)])) : leaf(value);
const plain = (value) => typeof value === "string" ? value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;") : value;

// A copy of a figure with the page's colours and fonts in place of variables, and with data that is no markup.
function resolved({data, layout}) {
  const style = getComputedStyle(element);
  const paint = (value) => {
    const variable = typeof value === "string" && /^var\((--[\w-]+)\)$/.exec(value);
    return variable ? style.getPropertyValue(variable[1]).trim() : value;
  };
  const trace = (parts) => Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, each(part, FROM_DATA.has(key) ? plain : paint)]));
  return {data: data.map(trace), layout: {uirevision: shown, ...each(layout, paint)}};
}

// Plots are drawn one a frame, in their order: the first is seen soon, and the page answers meanwhile.
const turn = () => (window.dcoco.turn = (window.dcoco.turn ?? Promise.resolve()).then(() => new Promise(requestAnimationFrame)));

function addPanel() {
  const box = row.appendChild(make("div", "panel")), head = box.appendChild(make("div", "head"));
  const panel = {box, label: head.appendChild(make("h4")), plot: null, figure: null, width: 0, stale: false, drawing: false};
  const tools = head.appendChild(make("div", "tools"));
  for (const [name, does, act] of [["PNG", "Save as PNG", () => save(panel, "png")], ["SVG", "Save as SVG", () => save(panel, "svg")], ["Reset", "Reset zoom", () => reset(panel)]]) {
    const button = tools.appendChild(make("button", "", name));
    Object.assign(button, {type: "button", title: does});
    button.setAttribute("aria-label", does);
    button.addEventListener("click", act);
  }
  panel.plot = box.appendChild(make("div", "plot waiting"));
  panel.plot.setAttribute("role", "img");
  panel.plot.setAttribute("aria-describedby", note.id);
  sizes.observe(panel.plot);
  return panel;
}

// What is hidden has no size: it is drawn when it gets one.
const sizes = new ResizeObserver((entries) => {
  for (const panel of panels) if (entries.some((entry) => entry.target === panel.plot)) draw(panel);
});

async function draw(panel) {
  const width = panel.plot.clientWidth;
  if (!panel.figure || !width || panel.drawing || (width === panel.width && !panel.stale)) return;
  Object.assign(panel, {width, stale: false, drawing: true});
  try {
    const Plotly = await library();
    await turn();
    const {data, layout} = resolved(panel.figure);
    // a finger on a picture scrolls the page
    const dragmode = matchMedia("(pointer: coarse)").matches ? false : layout.dragmode ?? "zoom";
    await Plotly.react(panel.plot, data, {...layout, width, dragmode}, CONFIG);
    const {t = 100, b = 80} = layout.margin ?? {}, height = layout.height ?? HEIGHT;
    const taken = height - t - b - panel.plot._fullLayout._size.h; // by a legend that did not fit into one line
    if (taken > 4) await Plotly.relayout(panel.plot, {height: height + taken});
    panel.plot.classList.remove("waiting", "failed");
    panel.plot.dataset.drawn = +(panel.plot.dataset.drawn ?? 0) + 1;
  } catch (error) {
    console.error("a chart could not be drawn", error);
    panel.plot.classList.replace("waiting", "failed");
    details.open = true;
  }
  panel.drawing = false;
  draw(panel); // what changed meanwhile
}

function redraw() { for (const panel of panels) { panel.stale = true; draw(panel); } }

async function save(panel, format) {
  const Plotly = await library(), {data, layout} = resolved(panel.figure), text = [shown, panel.label.textContent].filter(Boolean).join(", ");
  const margin = {...layout.margin, t: (layout.margin?.t ?? 20) + 36};
  const heading = {text: plain(text), x: 0.02, y: 0.97, yanchor: "top", font: {size: 14}};
  const filename = text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  await Plotly.downloadImage({data, layout: {...layout, margin, title: heading}, config: CONFIG},
    {format, filename, width: Math.max(720, panel.width), height: (layout.height ?? HEIGHT) + 36, scale: 2});
}

async function reset(panel) {
  if (!panel.plot.layout) return;
  const Plotly = await library(), back = {};
  for (const key of Object.keys(panel.plot._fullLayout)) {
    if (!/^[xy]axis\d*$/.test(key)) continue;
    const range = panel.figure.layout[key]?.range;
    back[range ? `${key}.range` : `${key}.autorange`] = range ? [...range] : true;
  }
  await Plotly.relayout(panel.plot, back);
}

// The points of a figure: where, what, and on how many observations.
function columns({data, layout}) {
  const found = new Map();
  const rank = (trace) => trace.legendrank ?? 1000; // Plotly's default: the order of the legend
  for (const trace of data.filter((trace) => trace.hoverinfo !== "skip").sort((a, b) => rank(a) - rank(b))) {
    const [keys, values, axis] = trace.orientation === "h" ? [trace.y, trace.x, "yaxis"] : [trace.x, trace.y, "xaxis"];
    const {tickvals = [], ticktext = []} = layout[(trace[axis[0] + "axis"] ?? axis[0]).replace(/^[xy]/, axis)] ?? {};
    const points = found.get(trace.name) ?? found.set(trace.name, new Map()).get(trace.name);
    values.forEach((value, i) => {
      const key = keys?.[i] ?? i, [text, n] = trace.customdata?.[i] ?? [];
      points.set(ticktext[tickvals.indexOf(key)] ?? String(key), {key, n, text: text ?? (value === null ? "–" : String(value))});
    });
  }
  return found;
}

function fill(table, {label, figure}) {
  const found = columns(figure), rows = new Map();
  for (const points of found.values()) for (const [name, {key}] of points) rows.set(name, key);
  const order = [...rows.keys()];
  if ([...rows.values()].every((key) => typeof key === "number")) order.sort((a, b) => rows.get(a) - rows.get(b));
  table.appendChild(make("caption", "", [shown, label].filter(Boolean).join(", ")));
  const head = table.createTHead().insertRow(), body = table.createTBody();
  const axis = figure.data.some((trace) => trace.orientation === "h") ? figure.layout.yaxis : figure.layout.xaxis;
  for (const name of [axis?.title?.text || "series", ...found.keys()]) head.appendChild(make("th", "", name)).scope = "col";
  for (const name of order) {
    const line = body.insertRow();
    line.appendChild(make("th", "", name)).scope = "row";
    for (const points of found.values()) {
      const cell = line.insertCell(), point = points.get(name);
      cell.textContent = point?.text ?? "";
      if (point?.n !== undefined && point.n !== null) cell.append(" ", make("small", "", `n ${point.n}`));
    }
  }
}

const summary = (panel) => [`${[shown, panel.label].filter(Boolean).join(", ")}.`, ...[...columns(panel.figure)].map(([name, points]) => {
  const all = [...points], [first, last] = [all[0], all.at(-1)];
  return !all.length ? "" : all.length === 1 ? `${name}: ${first[1].text} at ${first[0]}.` : `${name}: from ${first[1].text} at ${first[0]} to ${last[1].text} at ${last[0]}.`;
}), "All numbers are in the table below."].join(" ");

function tabulate() {
  if (!details.open) return;
  tables.replaceChildren(...(props.value?.panels ?? []).map((panel) => {
    const scroller = make("div", "scroller");
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "region");
    scroller.setAttribute("aria-label", [`Numbers: ${shown}`, panel.label].filter(Boolean).join(", "));
    fill(scroller.appendChild(make("table")), panel);
    return scroller;
  }));
}

function apply() {
  const value = props.value;
  element.classList.toggle("empty", !value);
  if (!value) return;
  if (shown !== value.title) {
    shown = value.title;
    title.replaceChildren();
    explain(title, shown, value.definition, id);
  }
  note.textContent = value.note;
  note.hidden = !value.note;
  details.hidden = row.hidden = !value.panels.length;
  while (panels.length < value.panels.length) panels.push(addPanel());
  for (const gone of panels.splice(value.panels.length)) { sizes.unobserve(gone.plot); gone.box.remove(); window.Plotly?.purge(gone.plot); }
  value.panels.forEach(({label, figure}, i) => {
    const panel = panels[i];
    panel.label.textContent = label;
    panel.plot.setAttribute("aria-label", summary(value.panels[i]));
    panel.plot.style.minHeight = `${figure.layout.height ?? HEIGHT}px`;
    Object.assign(panel, {figure, stale: true});
    draw(panel);
  });
  tabulate();
}

details.addEventListener("toggle", tabulate);
onTheme(redraw);
watch("value", apply);
apply();
