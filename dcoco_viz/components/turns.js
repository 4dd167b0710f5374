const {make} = window.dcoco;
const head = element.appendChild(make("div", "head"));
const title = head.appendChild(make("h3")), note = head.appendChild(make("span", "note"));
const fresh = head.appendChild(make("button", "", "New chat"));
fresh.type = "button";
const list = element.appendChild(make("ol"));
list.tabIndex = 0;
list.setAttribute("aria-label", "Earlier in this chat");

const prompt = () => document.querySelector("#dv-prompt textarea");
let asked = false; // the user asked for another chat than the one shown: the prompt is next

function paint() {
  const {turns = [], raw = false} = props.value ?? {};
  element.classList.toggle("empty", !turns.length);
  element.classList.toggle("off", raw);
  title.textContent = `Chat so far: ${turns.length} message${turns.length === 1 ? "" : "s"}`;
  note.textContent = raw ? "not read: the text is completed without the chat template" : "";
  list.replaceChildren(...turns.map(({role, content}) => {
    const item = make("li", role);
    item.append(make("b", "", role === "user" ? "You" : "Answer"), make("bdi", "", content));
    return item;
  }));
  list.scrollTop = list.scrollHeight;
  if (asked) prompt()?.focus();
  asked = false;
}
fresh.addEventListener("click", () => { asked = true; trigger("fresh", {}); });
window.dcoco.reply = (run) => { asked = true; trigger("reply", {run}); };
watch("value", paint);
paint();
