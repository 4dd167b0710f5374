const lane = window.dcoco.lanes[props.lane], {make, write} = window.dcoco;
element.dataset.lane = props.lane;

const head = element.appendChild(make("div", "head"));
head.append(make("span", "title", "Accepted length, cycle by cycle"));
const where = head.appendChild(make("output", "where"));
const strip = element.appendChild(make("div", "strip"));
strip.setAttribute("role", "img");
const bars = strip.appendChild(make("div", "bars"));
const slider = element.appendChild(make("input"));
Object.assign(slider, {type: "range", min: 0, value: 0});
slider.setAttribute("aria-label", "Cycle");
const controls = element.appendChild(make("div", "controls"));

function button(text, label, act) {
  const node = controls.appendChild(make("button", "", text));
  node.type = "button";
  node.setAttribute("aria-label", label);
  node.title = label;
  node.addEventListener("click", act);
  return node;
}
button("|◀", "First cycle (Home)", () => lane.scrub(0));
button("◀", "Previous cycle (left arrow)", () => lane.scrub(lane.selected - 1));
const play = button("▶ play", "Play (space)", () => toggle());
button("▶", "Next cycle (right arrow)", () => lane.scrub(lane.selected + 1));
button("▶|", "Last cycle (End)", () => lane.scrub(lane.cycles.length - 1));
const speed = controls.appendChild(make("select"));
speed.setAttribute("aria-label", "Play speed");
for (const rate of [1, 2, 4, 8, 16]) speed.append(new Option(`${rate} cycles/s`, rate, rate === 4, rate === 4));
const live = button("", "Follow the newest cycle", () => { stop(); lane.live(); });
live.className = "live";

let timer = null;
function stop() { clearInterval(timer); timer = null; play.textContent = "▶ play"; }
function toggle() {
  if (timer) return stop();
  if (lane.selected >= lane.cycles.length - 1) lane.scrub(0);
  play.textContent = "‖ pause";
  timer = setInterval(() => {
    lane.scrub(lane.selected + 1);
    if (lane.selected >= lane.cycles.length - 1) stop();
  }, 1000 / +speed.value);
}
speed.addEventListener("change", () => { if (timer) { stop(); toggle(); } });
lane.addEventListener("play", toggle);
lane.addEventListener("run", () => { stop(); bars.replaceChildren(); });
slider.addEventListener("input", () => { stop(); lane.scrub(+slider.value); });
strip.addEventListener("click", (event) => {
  const box = bars.getBoundingClientRect();
  stop();
  lane.scrub(Math.floor(((event.clientX - box.left) / box.width) * lane.cycles.length));
});

let lit = null;
lane.on("run cycles select figures follow", () => {
  const cycles = lane.cycles, count = cycles.length;
  element.classList.toggle("empty", !lane.run || (!count && lane.state === "done"));
  if (!lane.run) return;
  element.style.setProperty("--method", lane.color);
  const top = lane.run.method === "none" ? 1 : lane.run.slots;
  if (bars.childElementCount !== count) strip.setAttribute("aria-label", `Accepted lengths: ${cycles.map((c) => c.accepted).join(" ")}`);
  if (bars.childElementCount !== count) {
    bars.style.maxWidth = `${count * 14}px`; // a few cycles do not become slabs
    slider.style.maxWidth = strip.style.maxWidth = `${Math.max(160, count * 14)}px`;
  }
  for (let i = bars.childElementCount; i < count; i++) {
    const bar = bars.appendChild(make("i"));
    bar.style.setProperty("--a", cycles[i].accepted / top);
    bar.dataset.accepted = cycles[i].accepted;
  }
  slider.max = Math.max(0, count - 1);
  slider.disabled = count < 2;
  slider.value = Math.max(0, lane.selected);
  slider.setAttribute("aria-valuetext", lane.cycle ? `cycle ${lane.selected + 1} of ${count}, ${lane.cycle.accepted} accepted` : "no cycle yet");
  const next = bars.children[lane.selected] ?? null;
  if (lit !== next) {
    lit?.classList.remove("lit");
    lit = next;
    lit?.classList.add("lit");
  }
  write(where, count ? `cycle ${lane.selected + 1} / ${count}` : "no cycle yet");
  live.hidden = !lane.running;
  write(live, lane.follow ? "● live" : "⇥ jump to live");
  live.setAttribute("aria-pressed", lane.follow);
});
