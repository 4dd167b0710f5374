const {make, lanes} = window.dcoco;
const button = element.appendChild(make("button", "", "Reply to this answer"));
button.type = "button";

function wanted() {
  if ((document.body.dataset.view ?? "explore") !== "explore") return props.value;
  const found = [window.dcoco.focus, lanes.a].find((lane) => lane.run);
  return found?.state === "done" && found.tokens.length ? found.run.id : null;
}
function paint() {
  const run = wanted(), lane = [window.dcoco.focus, lanes.a].find((one) => one.run?.id === run);
  button.disabled = !run;
  button.title = !run ? "When an answer is finished, the next prompt can reply to it" :
    `The next prompt goes on from this chat${lane ? ` with ${lane.run.label}` : ""}`;
}
button.addEventListener("click", () => window.dcoco.reply(wanted()));
for (const lane of Object.values(lanes)) lane.on("run figures cycles select", paint);
window.addEventListener("resize", paint); // another view is shown: nav.js
watch("value", paint);
paint();
