const lane = window.dcoco.lanes[props.lane], {make, reader, visible} = window.dcoco;
element.dataset.lane = props.lane;

const KINDS = {
  g: ["given", "given: where this run began"],
  d: ["draft", "accepted draft"],
  c: ["corrected", "chosen by the head, accepted"],
  b: ["bonus", "verifier: bonus or replacement"],
  p: ["prefill", "prefill"],
  n: ["plain", "plain decoding"],
};
const hint = element.appendChild(make("p", "hint", props.hint));
const legend = element.appendChild(make("ul", "legend"));
legend.setAttribute("aria-label", "Where tokens come from");
const keys = {};
for (const [code, [kind, label]] of Object.entries(KINDS)) {
  keys[code] = legend.appendChild(make("li"));
  keys[code].append(make("span", "sample " + kind, "token"), make("span", "", label));
}
const box = element.appendChild(make("div", "text"));
box.tabIndex = 0;
box.dir = "auto";
box.setAttribute("role", "group");
box.setAttribute("aria-label", "Generated text. Left and right arrow keys move through the cycles.");

let begun = false, spans = [], byCycle = new Map(), read = reader(), lit = [], seen = new Set();
let scrolled = 0; // to where; known without asking the layout
let places = null; // where each token stands in the text: [top, bottom], read once per layout

function reset() {
  box.replaceChildren();
  [begun, spans, byCycle, read, lit, seen, places] = [false, [], new Map(), reader(), [], new Set(), null];
  element.classList.toggle("empty", !lane.run);
}

function add(token) {
  const [kind, label] = KINDS[token.origin], piece = lane.pieces.get(token.id) ?? "";
  const special = lane.special.has(token.id), text = special ? visible(piece) : read(piece);
  const span = box.appendChild(make("span", `tok ${kind}`, text));
  if (special) span.classList.add("special");
  if (!text) span.classList.add("fragment");
  span.title = `${visible(piece)}  id ${token.id}, ${label}` + (token.cycle < 0 ? "" : `, cycle ${token.cycle + 1}`);
  seen.add(token.origin);
  return span;
}

function grow() {
  if (!lane.run) return;
  if (spans.length && !lane.tokens.length) reset();
  const before = box.childElementCount;
  if (!begun) lane.given.forEach((id) => add({id, cycle: -1, origin: "g"}));
  begun = true;
  for (let i = spans.length; i < lane.tokens.length; i++) {
    const token = lane.tokens[i], span = add(token);
    span.dataset.cycle = token.cycle;
    if (!byCycle.has(token.cycle)) byCycle.set(token.cycle, []);
    byCycle.get(token.cycle).push(span);
    spans.push(span);
  }
  if (box.childElementCount === before) return;
  places = null;
  for (const [code, key] of Object.entries(keys)) key.hidden = !seen.has(code);
}

function light() {
  const next = byCycle.get(lane.selected) ?? [];
  if (next === lit) return;
  lit.forEach((span) => span.classList.remove("lit"));
  lit = next;
  lit.forEach((span) => span.classList.add("lit"));
  const span = lit.at(-1); // keep it in sight without moving the page
  if (!span) return;
  if (lane.follow && lane.running) { box.scrollTop = box.scrollHeight; return; }
  places ??= {height: box.clientHeight, of: new Map(spans.map((s) => [s, [s.offsetTop - box.offsetTop, s.offsetHeight]]))};
  const [top, height] = places.of.get(span);
  if (top < scrolled || top + height > scrolled + places.height) scrolled = box.scrollTop = top - places.height + 2 * height;
}

box.addEventListener("click", (event) => {
  const cycle = +(event.target.closest(".tok")?.dataset.cycle ?? -1);
  if (cycle >= 0) lane.scrub(cycle);
});
lane.addEventListener("run", reset);
lane.on("run cycles figures select", () => { grow(); light(); });
box.addEventListener("scroll", () => { scrolled = box.scrollTop; });
new ResizeObserver(() => { places = null; }).observe(box);
reset();
