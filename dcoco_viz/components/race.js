const {make, explain, reader, visible, write, compared} = window.dcoco;
const {KINDS, seconds, plural} = compared;
const still = matchMedia("(prefers-reduced-motion: reduce)");

const head = element.appendChild(make("div", "head"));
explain(head.appendChild(make("h3")), "Race", props.clock, "race");
const lead = head.appendChild(make("p", "lead"));
const stage = element.appendChild(make("div", "stage"));
const clock = element.appendChild(make("div", "clock"));
const scrub = make("div", "scrub"), hand = scrub.appendChild(make("i", "hand")), axis = make("div", "axis");
Object.entries({role: "slider", tabindex: 0, "aria-label": "Time of the race", "aria-valuemin": 0}).forEach(([name, text]) => scrub.setAttribute(name, text));
const controls = element.appendChild(make("div", "controls"));
const said = element.appendChild(make("p", "said")); // for those who listen: only where the race stands still
said.setAttribute("role", "status");

const button = (label, act) => {
  const node = controls.appendChild(make("button", "", label));
  node.type = "button";
  node.addEventListener("click", act);
  return node;
};
const playing = button("▶ play", () => toggle());
playing.title = "space";
button("|◀ restart", () => { seek(0); play(); });
button("▶| end", () => { pause(); seek(end); });
const speed = controls.appendChild(make("select"));
speed.setAttribute("aria-label", "Speed of the race");
for (const rate of props.speeds) speed.append(new Option(`${rate}×`, rate, rate === 1, rate === 1));
const where = controls.appendChild(make("output", "where"));

let shown = "", runners = [], end = 0, t = 0, frame = 0;

function build() {
  const value = props.value, ids = value ? value.runs.map((run) => run.id + run.tokens.length).join() : "";
  element.dataset.kind = value ? "shown" : "none";
  if (ids === shown) return; // the same race again: it goes on where it stands
  shown = ids;
  pause();
  stage.replaceChildren();
  clock.replaceChildren();
  runners = [];
  if (!value) return;
  end = Math.ceil(Math.max(1, ...value.runs.map((run) => run.at.at(-1) ?? 0)));
  const marked = new Set(value.special), most = Math.max(1, ...value.runs.map((run) => Math.max(...commits(run).map(([, n]) => n), 1)));
  value.runs.forEach((run, i) => runners.push(runner(run, i, value, marked, most)));
  clock.append(scrub, axis);
  scrub.style.gridRow = `1 / span ${value.runs.length}`;
  axis.style.gridRow = value.runs.length + 1;
  scale();
  scrub.setAttribute("aria-valuemax", end);
  seek(still.matches ? end : 0);
  if (!still.matches && document.body.dataset.view === "compare") play();
}

// [ms, tokens] of every moment at which something was committed.
function commits(run) {
  const out = [];
  run.at.forEach((ms) => { if (out.at(-1)?.[0] === ms) out.at(-1)[1]++; else out.push([ms, 1]); });
  return out;
}

function runner(run, row, value, marked, most) {
  const lane = stage.appendChild(make("section", "runner")), top = lane.appendChild(make("h4")), read = reader();
  lane.style.setProperty("--method", `var(--method-${run.method})`);
  compared.title(top, run);
  const tally = lane.appendChild(make("p", "tally")), count = tally.appendChild(make("b")), state = tally.appendChild(make("span"));
  const box = lane.appendChild(make("div", "text"));
  Object.assign(box, {tabIndex: 0, dir: "auto"});
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `Text of ${run.short}`);
  let block = null; // a paragraph: a token that appears makes its own anew, and no other
  const spans = run.tokens.map((id, i) => {
    const piece = value.pieces[id] ?? "", [kind, , words] = KINDS[run.origins[i]];
    const text = marked.has(id) ? visible(piece) : read(piece);
    block ??= box.appendChild(make("div", "block"));
    const span = block.appendChild(make("span", `tok ${kind}${marked.has(id) ? " special" : ""}${text ? "" : " fragment"}`, text));
    span.dataset.i = i;
    span.hidden = true;
    if (text.endsWith("\n")) block = null;
    span.title = `${visible(piece)}  ${words}, ${seconds(run.at[i])}` + (run.cycles[i] < 0 ? "" : `, cycle ${run.cycles[i] + 1}`);
    return span;
  });
  box.addEventListener("click", (event) => {
    const cycle = run.cycles[event.target.closest(".tok")?.dataset.i] ?? -1;
    if (cycle >= 0) compared.open(run, value.runs.map((other) => other.id), cycle);
  });
  const label = clock.appendChild(make("span", "who")), track = clock.appendChild(make("div", "track")), finish = clock.appendChild(make("span", "finish"));
  [label, track, finish].forEach((node) => { node.style.gridRow = row + 1; });
  compared.title(label, {...run, detail: ""});
  track.style.setProperty("--method", `var(--method-${run.method})`);
  const last = run.at.at(-1) ?? 0;
  finish.textContent = `⚑ ${seconds(last)}`;
  finish.title = `${run.short}: last token ${seconds(last)} after its first`;
  const done = track.appendChild(make("i", "done"));
  done.style.width = `${(100 * last) / end}%`;
  track.append(rug(run, most), Object.assign(make("i", "flag"), {style: `left: ${(100 * last) / end}%`}));
  return {run, spans, box, count, state, last, n: 0};
}

// A stroke for every commit, as high as it brought tokens.
function rug(run, most) {
  const make = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag), svg = make("svg"), path = svg.appendChild(make("path"));
  Object.entries({viewBox: "0 0 1000 20", preserveAspectRatio: "none", "aria-hidden": "true"}).forEach(([name, text]) => svg.setAttribute(name, text));
  path.setAttribute("d", commits(run).map(([ms, n]) => `M${((1000 * ms) / end).toFixed(2)} 20V${(20 - (20 * n) / most).toFixed(1)}`).join(""));
  return svg;
}

function scale() {
  const step = [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000, 120000, 300000].find((ms) => end / ms <= 8) ?? 600000;
  axis.replaceChildren();
  for (let ms = 0; ms <= end; ms += step) axis.appendChild(Object.assign(make("span", "", `${+(ms / 1000).toFixed(1)} s`), {style: `left: ${(100 * ms) / end}%`}));
}

function reached(at, ms) { // how many of these moments have come
  let low = 0, high = at.length;
  while (low < high) { const middle = (low + high) >> 1; if (at[middle] <= ms) low = middle + 1; else high = middle; }
  return low;
}

function seek(ms) {
  t = Math.round(Math.max(0, Math.min(end, ms)));
  for (const one of runners) {
    const n = reached(one.run.at, t);
    for (let i = one.n; i < n; i++) one.spans[i].hidden = false;
    for (let i = n; i < one.n; i++) one.spans[i].hidden = true;
    if (n !== one.n && n) sight(one.box, one.spans[n - 1]);
    one.n = n;
    write(one.count, String(n));
  }
  const most = Math.max(0, ...runners.map((one) => one.n));
  for (const one of runners) {
    const done = t >= one.last, behind = most - one.n;
    const how = () => `, finished at ${seconds(one.last)}${{abort: ", stopped", error: ", broken off"}[one.run.finish] ?? ""}`;
    write(one.state, (one.n === 1 ? " token" : " tokens") + (done ? how() : behind ? `, ${behind} behind` : ""));
  }
  write(lead, standing());
  hand.style.left = `${(100 * t) / end}%`;
  write(where, `${seconds(t)} of ${seconds(end)}`);
  scrub.setAttribute("aria-valuenow", t);
  scrub.setAttribute("aria-valuetext", `${seconds(t)}. ${lead.textContent}`);
}

function sight(box, span) { // keeps the newest token in view without moving the page
  const bottom = span.offsetTop + span.offsetHeight;
  if (bottom > box.scrollTop + box.clientHeight || span.offsetTop < box.scrollTop) box.scrollTop = bottom - box.clientHeight + 8;
}

function standing() {
  const whole = runners.filter(({run}) => run.finish === "stop" || run.finish === "length"); // one that was stopped wins nothing
  const order = [...whole].sort((a, b) => b.n - a.n || a.last - b.last), [first, second] = order;
  if (!second) return "";
  if (t >= end) {
    const byTime = [...whole].sort((a, b) => a.last - b.last);
    return `${byTime[0].run.short} finished first, ` + byTime.slice(1).map((one) => `${seconds(one.last - byTime[0].last)} before ${one.run.short}`).join(", ") + ".";
  }
  const over = order.filter((one) => t >= one.last);
  if (over.length) {
    const rest = order.filter((one) => t < one.last);
    return `${over.map((one) => one.run.short).join(" and ")} finished; ` + rest.map((one) => `${one.run.short} has ${plural(one.spans.length - one.n, "token")} to go`).join(", ") + ".";
  }
  const gap = first.n - second.n;
  return gap ? `${first.run.short} is ${plural(gap, "token")} ahead of ${second.run.short}.` : `${first.run.short} and ${second.run.short} are level.`;
}

function play() {
  if (frame || !runners.length) return;
  if (t >= end) seek(0);
  playing.textContent = "‖ pause";
  said.textContent = "";
  let last = performance.now(), exact = t;
  const step = (now) => {
    exact += Math.max(0, now - last) * +speed.value; // a frame may bear an earlier time than the click
    last = now;
    seek(exact);
    frame = t < end ? requestAnimationFrame(step) : 0;
    if (!frame) pause();
  };
  frame = requestAnimationFrame(step);
}
function pause() {
  cancelAnimationFrame(frame);
  frame = 0;
  playing.textContent = "▶ play";
  said.textContent = runners.length ? `${seconds(t)}: ${lead.textContent}` : "";
}
const toggle = () => (frame ? pause() : play());

const moves = {ArrowLeft: -100, ArrowDown: -100, ArrowRight: 100, ArrowUp: 100, PageDown: -1000, PageUp: 1000, Home: -Infinity, End: Infinity};
scrub.addEventListener("keydown", (event) => {
  if (!(event.key in moves)) return;
  event.preventDefault();
  pause();
  seek(t + moves[event.key]);
});
element.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.target.closest("button, select")) return;
  event.preventDefault();
  toggle();
});
const drag = (event) => {
  const box = scrub.getBoundingClientRect();
  seek((end * (event.clientX - box.left)) / box.width);
};
scrub.addEventListener("pointerdown", (event) => { pause(); scrub.setPointerCapture(event.pointerId); drag(event); });
scrub.addEventListener("pointermove", (event) => { if (scrub.hasPointerCapture(event.pointerId)) drag(event); });
watch("value", build);
build();
