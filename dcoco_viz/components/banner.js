const {make} = window.dcoco;
element.setAttribute("role", props.role);

function paint() {
  const value = props.value || null;
  element.dataset.kind = value?.kind ?? "none";
  element.replaceChildren();
  if (!value?.text) return;
  const sign = make("span", "sign", {error: "!", info: "i", ready: "●", busy: ""}[value.kind]);
  sign.setAttribute("aria-hidden", "true");
  element.append(sign, make("span", "words", value.text));
  if (value.detail) element.append(make("span", "more", value.detail));
}
watch("value", paint);
paint();
