const lane = window.dcoco.lanes[props.lane], {make, write} = window.dcoco;
element.dataset.lane = props.lane;

element.append(make("h3", "", "Time of this cycle"));
const bar = element.appendChild(make("div", "bar"));
bar.setAttribute("aria-hidden", "true");
const list = element.appendChild(make("ul"));
const parts = ["drafter", "head", "verify"].map((name) => ({name, piece: bar.appendChild(make("span", name)), item: list.appendChild(make("li"))}));
for (const part of parts) part.item.append(make("span", "sample " + part.name), make("span", "", {drafter: "drafter", head: "head + walk", verify: "verify"}[part.name]), part.text = make("b"));
const total = list.appendChild(make("li", "total"));

const limits = {run: null, upto: 0, top: 0}; // the axis: the longest cycle so far, rounded up
function top() {
  if (limits.run !== lane.run.id) Object.assign(limits, {run: lane.run.id, upto: 0, top: 0});
  for (; limits.upto < lane.cycles.length; limits.upto++) {
    const [draft, , verify] = lane.cycles[limits.upto].ms;
    limits.top = Math.max(limits.top, draft + verify);
  }
  const unit = 10 ** Math.floor(Math.log10(limits.top || 1));
  return Math.ceil(limits.top / unit) * unit;
}

lane.on("run cycles select", () => {
  const cycle = lane.cycle;
  element.classList.toggle("empty", !cycle);
  if (!cycle) return;
  element.style.setProperty("--method", lane.color);
  const [draft, head, verify] = cycle.ms, all = top(), ms = {drafter: draft - head, head, verify};
  for (const {name, piece, item, text} of parts) {
    item.hidden = name !== "verify" && !draft;
    piece.style.width = `${(100 * ms[name]) / all}%`;
    write(text, `${ms[name].toFixed(name === "head" ? 2 : 1)} ms`);
  }
  write(total, `together ${(draft + verify).toFixed(1)} ms for ${cycle.committed.length} token${cycle.committed.length === 1 ? "" : "s"}; axis to ${+all.toPrecision(3)} ms`);
});
