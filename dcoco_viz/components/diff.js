const {make, explain, visible, compared} = window.dcoco;
const {KINDS, plural} = compared;

const head = element.appendChild(make("div", "head"));
head.append(make("h3", "", "Token by token"));
const lead = head.appendChild(make("p", "lead"));
const legend = element.appendChild(make("ul", "legend"));
legend.setAttribute("aria-label", "How each run came by a token");
for (const [code, [kind, letter, words]] of Object.entries(KINDS)) {
  const item = legend.appendChild(make("li"));
  item.dataset.code = code;
  item.append(make("span", `cell first last ${kind}`, letter), make("span", "", words));
}
const counts = element.appendChild(make("div", "counts"));
const parts = element.appendChild(make("div", "parts"));
const sheet = element.appendChild(make("div", "sheet"));
sheet.setAttribute("role", "group");
sheet.setAttribute("aria-label", "Tokens of all runs by position. Arrow keys move, Enter opens the cycle in Explore.");

let runs = [], texts = [], widths = [], drafted = [], width = 0, spot = {run: 0, at: 0};
const pen = document.createElement("canvas").getContext("2d");
const text = (id) => visible(props.value.pieces[id], 22);

function build() {
  const value = props.value;
  element.dataset.kind = value ? "shown" : "none";
  sheet.replaceChildren();
  runs = value?.runs ?? [];
  width = 0;
  if (!value) return;
  const length = Math.max(...runs.map((run) => run.tokens.length)), equal = value.part === null;
  spot = {run: 0, at: 0};
  pen.font = "12px " + getComputedStyle(document.documentElement).getPropertyValue("--dv-mono");
  const sizes = new Map(), size = (id) => sizes.get(id) ?? sizes.set(id, Math.max(18, Math.ceil(pen.measureText(text(id)).width) + 9)).get(id);
  widths = Array.from({length}, (_, i) => Math.max(...runs.map((run) => (i < run.tokens.length ? size(run.tokens[i]) : 18))));
  const drafts = runs.filter((run) => run.method !== "none");
  drafted = Array.from({length}, (_, i) => drafts.filter((run) => "dc".includes(run.origins[i] ?? " ")).length);
  const seen = new Set(runs.flatMap((run) => [...run.origins]));
  for (const item of legend.children) item.hidden = !seen.has(item.dataset.code);
  const least = Math.min(...runs.map((run) => run.tokens.length));
  lead.textContent = equal ? `${least < length ? "The first " : ""}${plural(least, "token")}, the same in ${runs.length === 2 ? "both" : `all ${runs.length}`} runs: only the way to them differs.`
    : `The texts part at output token ${value.part + 1}; the row of a token that differs from the first run's is marked ≠.`;
  tell(value);
  clash(value);
  layout();
}

// Who drafted what.
function tell({shared}) {
  counts.replaceChildren();
  counts.hidden = !shared;
  if (!shared) return;
  explain(counts.appendChild(make("span")), "Drafted by one alone", props.alone, "compare-alone");
  for (const run of runs) if (run.id in shared.alone) {
    const item = counts.appendChild(make("span", "count"));
    compared.title(item, {...run, label: run.short, detail: ""});
    item.append(make("b", "", String(shared.alone[run.id])));
    item.dataset.run = run.id;
  }
  const rest = [["by all", shared.all], ["by some", shared.some], ["by none", shared.none]].filter(([name, n]) => n || name !== "by some");
  for (const [name, n] of rest) counts.appendChild(make("span", "count", name)).append(make("b", "", String(n)));
}

// What the records say of the first position at which the texts differ.
function clash({part, evidence}) {
  parts.replaceChildren();
  parts.hidden = part === null;
  if (part === null) return;
  runs.forEach((run, i) => {
    const found = evidence[i], row = parts.appendChild(make("p"));
    compared.title(row, {...run, label: run.short, detail: ""});
    if (found.token === null) { row.append(" has ended before it."); return; }
    row.append(" has ", make("bdi", "tok", text(found.token)), `, ${KINDS[run.origins[part]][2]}`);
    if (found.drafted !== null && found.drafted !== found.token) row.append("; the draft there, refused, was ", make("bdi", "tok", text(found.drafted)));
    row.append(found.logprob === null ? "; no log-probability was recorded there." : `, log-probability under the verifier ${found.logprob}.`);
  });
}

// Lines as long as the view is wide; each is a block of its own, so that far ones need not be drawn.
function layout() {
  const room = sheet.clientWidth;
  if (!runs.length || !room || room === width) return;
  width = room;
  const names = Math.min(190, Math.max(84, 0.2 * room)), lines = [];
  for (let i = 0, used = Infinity; i < widths.length; i++) {
    if (used + widths[i] + 2 > room - names) { lines.push([]); used = 0; }
    lines.at(-1).push(i);
    used += widths[i] + 2;
  }
  sheet.style.setProperty("--names", `${names}px`);
  sheet.replaceChildren(...lines.map(drawn));
  const node = at(spot.run, spot.at);
  if (node) node.tabIndex = 0;
}

function drawn(indices) {
  const line = make("div", "line"), equal = props.value.part === null, side = line.appendChild(make("div", "side"));
  line.setAttribute("role", "group");
  line.setAttribute("aria-label", `Tokens ${indices[0] + 1} to ${indices.at(-1) + 1}`);
  side.append(make("span", "number", String(indices[0] + 1)));
  for (const run of runs) compared.title(side.appendChild(make("span", "who")), {...run, label: run.short, detail: ""});
  for (const i of indices) {
    const column = line.appendChild(make("div", "column"));
    column.style.width = `${widths[i]}px`;
    const top = column.appendChild(equal ? make("bdi", "tok", text(runs.find((run) => i < run.tokens.length).tokens[i])) : make("span", "tok"));
    if (i === props.value.part) { column.classList.add("part"); top.textContent = "▼"; }
    runs.forEach((run, r) => column.append(cell(run, r, i, equal)));
  }
  return line;
}

function cell(run, r, i, equal) {
  if (i >= run.tokens.length) return make("span", "cell gone");
  const [kind, letter, words] = KINDS[run.origins[i]], cycle = run.cycles[i], id = run.tokens[i];
  const node = make("button", `cell ${kind}`, equal ? letter : text(id));
  Object.assign(node, {type: "button", tabIndex: -1});
  Object.assign(node.dataset, {run: r, at: i});
  if (cycle < 0 || cycle !== run.cycles[i - 1]) node.classList.add("first");
  if (cycle < 0 || cycle !== run.cycles[i + 1]) node.classList.add("last");
  if (equal && drafted[i] === 1 && "dc".includes(run.origins[i]) && props.value.shared) node.classList.add("alone");
  const other = i < runs[0].tokens.length && runs[0].tokens[i] !== id;
  if (other) node.classList.add("other");
  node.title = `${i + 1}: ${text(id)}  ${run.short}: ${words}` + (cycle < 0 ? "" : `, cycle ${cycle + 1}`);
  node.setAttribute("aria-label", `Token ${i + 1}, ${text(id)}, ${run.short}: ${words}${other ? ", differs" : ""}${cycle < 0 ? "" : `, cycle ${cycle + 1}`}`);
  return node;
}

const at = (r, i) => sheet.querySelector(`button[data-run="${r}"][data-at="${i}"]`);
sheet.addEventListener("click", (event) => {
  const node = event.target.closest("button"), run = runs[node?.dataset.run];
  if (run && run.cycles[node.dataset.at] >= 0) compared.open(run, runs.map((other) => other.id), run.cycles[node.dataset.at]);
});
sheet.addEventListener("keydown", (event) => {
  const node = event.target.closest("button"), r = +node?.dataset.run, i = +node?.dataset.at;
  const to = {ArrowLeft: [r, i - 1], ArrowRight: [r, i + 1], ArrowUp: [r - 1, i], ArrowDown: [r + 1, i], Home: [r, 0], End: [r, runs[r]?.tokens.length - 1]}[event.key];
  const next = node && to && at(...to);
  if (!to) return;
  event.preventDefault();
  if (!next) return;
  node.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  [spot.run, spot.at] = to;
});

new ResizeObserver(() => requestAnimationFrame(layout)).observe(sheet);
watch("value", build);
build();
