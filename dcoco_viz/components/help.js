// A native dialog: Esc closes it, the focus goes back to where it was.
const {make} = window.dcoco;
const dialog = element.appendChild(make("dialog"));
dialog.setAttribute("aria-labelledby", "dv-help-title");
const head = dialog.appendChild(make("header")), title = head.appendChild(make("h2", "", "Help"));
title.id = "dv-help-title";
const close = head.appendChild(make("button", "", "Close (Esc)"));
close.type = "button";
const body = dialog.appendChild(make("div", "body"));
body.tabIndex = 0; // scrolls by keys
body.setAttribute("role", "group");
body.setAttribute("aria-labelledby", "dv-help-title");

function section(name, list) {
  const part = body.appendChild(make("section", list));
  part.appendChild(make("h3", "", name));
  return part.appendChild(make("dl"));
}
function entry(list, name, text) {
  const item = list.appendChild(make("div", "entry"));
  item.append(make("dt", "", name), make("dd", "", text));
  return item;
}

const keys = section("Keys", "keys");
for (const [names, text] of props.keys) {
  const item = entry(keys, "", text), term = item.firstChild;
  for (const name of names) term.append(make("kbd", "", name));
}
const views = section("Views", "views");
for (const [name, text] of Object.entries(props.views)) entry(views, name, text);
const read = section("How to read the pictures", "read");
for (const [name, text] of Object.entries(props.read)) entry(read, name, text);
const glossary = section("What the numbers mean", "glossary");
for (const [name, {label, formula, text, paper}] of Object.entries(props.glossary)) {
  const item = entry(glossary, label, text);
  item.dataset.name = name;
  item.lastChild.prepend(make("code", "", formula));
  if (paper) item.lastChild.append(make("span", "paper", `The paper: ${paper}`));
}

close.addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); }); // beside it
dialog.addEventListener("keydown", (event) => { if (event.key !== "?") event.stopPropagation(); }); // not the page's
window.dcoco.help = () => {
  if (dialog.open) return dialog.close();
  dialog.showModal();
  body.scrollTop = 0;
};
