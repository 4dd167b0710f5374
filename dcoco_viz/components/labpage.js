const {make, visible} = window.dcoco;

function paint() {
  const value = props.value;
  element.hidden = !value;
  element.replaceChildren();
  if (!value) return;
  element.append(make("h3", "", "Why the best sum can lose to prefix-first"), make("p", "", value.mechanism));
  for (const {parts, cycle} of value.story) {
    const p = element.appendChild(make("p", cycle === undefined ? "" : "case"));
    if (cycle !== undefined) p.dataset.cycle = cycle;
    p.append(...parts.map((part) => (typeof part === "string" ? part : make("bdi", "tok", visible(part.token)))));
    if (cycle === undefined) continue;
    const button = make("button", "", `Open cycle ${cycle + 1} in Explore`);
    button.type = "button";
    button.addEventListener("click", () => window.dcoco.open({view: "explore", runs: [value.run], cycle: cycle + 1}));
    p.append(" ", button);
  }
  element.append(make("h4", "", "What the paper reports (its own numbers, on its own models)"));
  const list = element.appendChild(make("dl"));
  for (const [what, how] of value.paper) list.append(make("dt", "", what), make("dd", "", how));
  element.append(make("h4", "", "Known weaknesses of the method"));
  const weak = element.appendChild(make("ul"));
  weak.append(...value.weaknesses.map((text) => make("li", "", text)));
}
watch("value", paint);
paint();
