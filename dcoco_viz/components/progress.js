const {make} = window.dcoco;
const words = element.appendChild(make("p")), bar = element.appendChild(make("div", "bar")), fill = bar.appendChild(make("i"));
words.setAttribute("role", "status");
bar.setAttribute("aria-hidden", "true");

function paint() {
  const value = props.value;
  element.dataset.kind = value ? "shown" : "none";
  words.textContent = value?.text ?? "";
  fill.style.width = value ? `${(100 * value.done) / value.total}%` : 0;
}
watch("value", paint);
paint();
