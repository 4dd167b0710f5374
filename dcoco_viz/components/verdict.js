const {make} = window.dcoco;

function paint() {
  const value = props.value;
  element.replaceChildren();
  element.dataset.kind = value ? "shown" : "none";
  if (!value) return;
  if (value.hint) {
    element.append(make("p", "hint", value.hint));
    return;
  }
  const head = element.appendChild(make("p", "asked"));
  if (value.prompt !== null) head.append(make("q", "", value.prompt));
  if (value.asked) head.append(make("span", "how", value.asked));
  if (value.sentence) {
    const line = element.appendChild(make("p", "verdict")), sign = line.appendChild(make("b", "sign", value.sign));
    sign.setAttribute("aria-hidden", "true");
    line.append(make("span", "words", value.sentence));
  }
  if (value.alone) {
    const line = element.appendChild(make("p", "note")), link = make("button", "", "Runs");
    link.type = "button";
    link.addEventListener("click", () => window.dcoco.open({view: "runs"}));
    line.append("One run alone: choose it together with one to three others in ", link, " to compare them.");
  }
  for (const note of value.notes) element.append(make("p", "note", note));
}
watch("value", paint);
paint();
