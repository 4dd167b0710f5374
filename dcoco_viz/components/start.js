const lane = window.dcoco.lanes[props.lane], {make} = window.dcoco;
const title = element.appendChild(make("h3")), words = element.appendChild(make("p")), steps = element.appendChild(make("ol"));

const STEPS = [
  ["Ask", "Type a prompt above or choose an example, and press Run (or Enter)."],
  ["Watch", "The text streams in, every token marked by where it came from: drafted, chosen by the head, or the verifier’s own."],
  ["Look", "Below it stands every cycle: what the drafter offered, which path was taken, how far the verifier went. Arrow keys move through them, live and after."],
  ["Change", "Take another candidate and branch off there; compare methods, walks and slots on the same prompt. ? explains everything."],
];
for (const [name, text] of STEPS) steps.appendChild(make("li")).append(make("b", "", name), make("span", "", text));

function paint() {
  const value = props.value || {kind: "info"};
  element.dataset.kind = value.kind;
  steps.hidden = value.kind !== "ready";
  title.textContent = {busy: "The engine is loading", ready: "No run yet", error: "There is no engine", info: "No run yet"}[value.kind];
  words.textContent = {
    busy: `${value.text} ${value.detail}. The prompt can be typed meanwhile; Run is ready when the engine is.`,
    ready: "",
    error: `${value.text} Recorded traces can still be opened: with “Open a trace”, above.`,
    info: "Open a recorded trace, above.",
  }[value.kind];
}
lane.on("run", () => element.classList.toggle("over", !!lane.run));
watch("value", paint);
paint();
