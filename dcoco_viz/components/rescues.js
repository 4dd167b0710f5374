const {make, explain, visible, compared} = window.dcoco;
const {plural} = compared;
const FIRST = 12; // rows that stand there before more are asked for

const title = element.appendChild(make("h3", "", "What the head changed"));
const sections = element.appendChild(make("div", "sections"));

function build() {
  const value = props.value;
  element.dataset.kind = value ? "shown" : "none";
  if (!value) return;
  sections.replaceChildren(...value.runs.map((run, i) => section(run, i, value)));
  if (!value.runs.length) sections.append(make("p", "note", "No run here was decoded with a head, or none was recorded with its scores: there is nothing to rescue."));
}

function section(run, i, value) {
  const part = make("section"), top = part.appendChild(make("h4"));
  part.dataset.run = run.id;
  part.style.setProperty("--method", `var(--method-${run.method})`);
  compared.title(top, run);
  const list = part.appendChild(make("dl"));
  for (const total of props.totals) {
    const item = list.appendChild(make("div", "item " + total.name));
    explain(item.appendChild(make("dt")), total.label, total, `rescue-${i}-${total.name}`);
    const text = item.appendChild(make("dd", "", run.totals[total.name] ?? "–"));
    if (total.name === "changed") text.append(make("small", "", ` of ${run.cycles}`));
    if (total.name === "helped" && run.gained) text.append(make("small", "", ` +${plural(run.gained, "token")}`));
    if (total.name === "harmed" && run.lost) text.append(make("small", "", ` −${plural(run.lost, "token")}`));
  }
  if (!run.greedy) part.append(make("p", "note", "At a temperature above 0 the lengths are agreement with the text that was sampled, not what verification would have accepted."));
  if (run.changes.length) part.append(...ranking(run, i, value));
  else part.append(make("p", "note", "No change made a slot right or wrong."));
  return part;
}

function ranking(run, i, value) {
  const scroller = make("div", "scroller"), table = scroller.appendChild(make("table")), more = make("button", "more");
  Object.assign(scroller, {tabIndex: 0});
  scroller.setAttribute("role", "region");
  scroller.setAttribute("aria-label", `Changes of ${run.short}`);
  table.createCaption().textContent = "Largest gain first, then the largest loss, then slots behind the first error. A click opens the cycle.";
  const head = table.createTHead().insertRow();
  for (const name of ["cycle", "gain", "accepted", "slot", "argmax → chosen", "text", "slots rescued", "slots harmed"]) {
    const th = head.appendChild(make("th", "", name === "gain" ? "" : name));
    th.scope = "col";
    if (name === "gain") explain(th, "gain", props.gain, `rescue-gain-${i}`);
  }
  const body = table.createTBody(), show = (rows) => body.append(...rows.map((change) => row(run, change, value)));
  show(run.changes.slice(0, FIRST));
  more.type = "button";
  more.textContent = `Show all ${run.changes.length}`;
  more.hidden = run.changes.length <= FIRST;
  more.addEventListener("click", () => { more.hidden = true; show(run.changes.slice(FIRST)); body.rows[FIRST].querySelector("button").focus(); });
  return [scroller, more];
}

function row(run, change, value) {
  const tr = make("tr", change.gain > 0 ? "helped" : change.gain < 0 ? "harmed" : "neutral"), text = (id) => make("bdi", "tok", visible(value.pieces[id], 22));
  tr.dataset.cycle = change.cycle;
  const link = tr.insertCell().appendChild(make("button", "cycle", String(change.cycle + 1)));
  link.type = "button";
  link.setAttribute("aria-label", `Open cycle ${change.cycle + 1} of ${run.short} in Explore`);
  const gain = tr.insertCell();
  gain.className = "gain";
  gain.textContent = change.gain > 0 ? `▲ +${change.gain}` : change.gain < 0 ? `▼ −${-change.gain}` : "0";
  tr.insertCell().textContent = `${change.top1} → ${change.selected}`;
  tr.insertCell().textContent = change.slot;
  tr.insertCell().append(text(change.argmax), " → ", text(change.chosen));
  tr.insertCell().append(text(change.truth));
  tr.insertCell().textContent = change.rescued.join(", ") || "–";
  tr.insertCell().textContent = change.harmed.join(", ") || "–";
  tr.addEventListener("click", () => compared.open(run, value.all, change.cycle)); // Enter on the button comes as a click too
  return tr;
}
watch("value", build);
build();
