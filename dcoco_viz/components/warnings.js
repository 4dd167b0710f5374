const lane = window.dcoco.lanes[props.lane], {make, visible} = window.dcoco;
element.dataset.lane = props.lane;
element.setAttribute("role", "status");
let shown = "";

lane.on("run figures", () => {
  const lines = lane.figures?.warnings ?? [], key = JSON.stringify(lines);
  if (key === shown) return; // a screen reader hears a line once
  shown = key;
  element.classList.toggle("empty", !lines.length);
  element.replaceChildren(...lines.map(line));
});

function line({kind, text, tokens = []}) {
  const node = make("p", "line " + kind), sign = node.appendChild(make("span", "sign", "!"));
  sign.setAttribute("aria-hidden", "true");
  const words = node.appendChild(make("span", "words", text + " "));
  for (const piece of tokens) words.append(make("bdi", "tok", visible(piece)));
  return node;
}
