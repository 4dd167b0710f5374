const lane = window.dcoco.lanes[props.lane], {make, reader, visible} = window.dcoco;
element.dataset.lane = props.lane;

const KINDS = {
  d: ["draft", "accepted draft"],
  c: ["corrected", "chosen by the corrector, accepted"],
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

let spans = [], byCycle = new Map(), read = reader(), lit = [], seen = new Set();

function reset() {
  box.replaceChildren();
  [spans, byCycle, read, lit, seen] = [[], new Map(), reader(), [], new Set()];
  element.classList.toggle("empty", !lane.run);
}

function grow() {
  if (spans.length && !lane.tokens.length) reset();
  for (let i = spans.length; i < lane.tokens.length; i++) {
    const token = lane.tokens[i], [kind, label] = KINDS[token.origin];
    const special = lane.special.has(token.id), piece = lane.pieces.get(token.id) ?? "";
    const text = special ? visible(piece) : read(piece);
    const span = make("span", `tok ${kind}`);
    if (special) span.classList.add("special");
    if (!text) span.classList.add("fragment");
    span.textContent = text;
    span.dataset.cycle = token.cycle;
    span.title = `${visible(piece)}  id ${token.id}, ${label}` + (token.cycle < 0 ? "" : `, cycle ${token.cycle + 1}`);
    if (!byCycle.has(token.cycle)) byCycle.set(token.cycle, []);
    byCycle.get(token.cycle).push(span);
    seen.add(token.origin);
    spans.push(span);
    box.append(span);
  }
  for (const [code, key] of Object.entries(keys)) key.hidden = !seen.has(code);
}

function light() {
  lit.forEach((span) => span.classList.remove("lit"));
  lit = byCycle.get(lane.selected) ?? [];
  lit.forEach((span) => span.classList.add("lit"));
  const span = lit.at(-1); // keep it in sight without moving the page
  if (!span) return;
  const top = span.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + span.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top - box.clientHeight + 2 * span.offsetHeight;
}

box.addEventListener("click", (event) => {
  const cycle = +(event.target.closest(".tok")?.dataset.cycle ?? -1);
  if (cycle >= 0) lane.scrub(cycle);
});
lane.addEventListener("run", reset);
lane.on("run cycles figures select", () => { grow(); light(); });
reset();
