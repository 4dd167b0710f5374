// One run in the list of runs.
(() => {
  const {make, glyphs} = window.dcoco;
  const runFile = (ids, ending) => `run/${ids.join(",")}.${ending}`; // see tabs/downloads.py

  function button(parent, words, label, act, name = "") {
    const node = parent.appendChild(make("button", name, words));
    node.type = "button";
    if (label) node.setAttribute("aria-label", label);
    node.addEventListener("click", act);
    return node;
  }

  function when(created) {
    const date = new Date(created);
    return isNaN(date) ? created : date.toLocaleString(undefined, {dateStyle: "medium", timeStyle: "short"});
  }

  // The row, and the one below it for what does not fit there. `act` has what may be asked for: choose(id, on),
  // toggle(id), rename(id, name), forget(ids).
  function runRow(row, numbers, act) {
    const tr = make("tr"), cell = (name, words = "") => tr.appendChild(make("td", name, words));
    tr.dataset.run = row.id;
    tr.style.setProperty("--method", `var(--method-${row.method})`);
    const check = cell("check").appendChild(make("input"));
    check.type = "checkbox";
    check.setAttribute("aria-label", `Select ${row.title}`);
    check.addEventListener("change", () => act.choose(row.id, check.checked));
    name(tr.appendChild(Object.assign(make("th", "title"), {scope: "row"})), row, act);
    cell("prompt").append(make("span", "line", row.prompt.slice(0, 300)));
    const glyph = make("span", "glyph", glyphs[row.method]);
    glyph.setAttribute("aria-hidden", "true");
    cell("method").append(glyph, make("span", "", row.label));
    cell("walk", row.walk || "–");
    cell("number", row.slots ?? "–");
    cell("number", String(row.temperature));
    for (const {name, unit} of numbers) cell(`number ${name}`, row.written[name] === null ? "–" : row.written[name] + (unit && ` ${unit}`));
    cell("created", when(row.created)).title = row.created;
    const more = cell("more"), details = make("tr", "details");
    button(more, "Open", `Open ${row.title} in Explore`, () => window.dcoco.open({view: "explore", runs: [row.id]}), "open");
    const toggle = button(more, "", `Details of ${row.title}`, () => act.toggle(row.id), "toggle");
    describe(details, row, tr.cells.length, act);
    return {tr, details, check, toggle};
  }

  function name(th, row, act) {
    const line = th.appendChild(make("div", "line"));
    line.append(make("span", row.name ? "words" : "words plain", row.title));
    if (!row.sample) button(line, "✎", `Rename ${row.title}`, () => rename(line, row, act), "pen");
    const tags = [row.sample && "sample trace", row.dense && "dense", row.finish === null && "decoding"].filter(Boolean);
    for (const tag of tags) th.append(make("span", "tag", tag));
    if (!row.parent) return;
    const from = make("div", "parent", "branch of "), {parent} = row;
    const place = {view: "explore", runs: [parent.run], cycle: parent.cycle + 1};
    if (parent.title) button(from, parent.title, `Open the parent, ${parent.title}, at cycle ${parent.cycle + 1}`, () => window.dcoco.open(place), "link");
    else from.append("a run that is not on your list");
    th.append(from);
  }

  function rename(line, row, act) {
    const input = make("input", "edit");
    Object.assign(input, {value: row.name, placeholder: row.title, maxLength: 200});
    input.setAttribute("aria-label", `Name of ${row.title}`);
    let over = false;
    const end = (keep) => {
      if (over) return;
      over = true;
      input.replaceWith(line);
      line.querySelector(".pen").focus();
      if (keep && input.value.trim() !== row.name) act.rename(row.id, input.value);
      act.edited();
    };
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // or Enter would press the pen, which has the focus next
      end(event.key === "Enter");
    });
    input.addEventListener("blur", () => end(true));
    line.replaceWith(input);
    input.select();
    input.focus();
  }

  function describe(tr, row, width, act) {
    const td = tr.appendChild(make("td"));
    td.colSpan = width;
    const box = td.appendChild(make("div", "box"));
    const full = (what, text) => {
      const node = Object.assign(make("p", "full", text), {tabIndex: 0, role: "group", ariaLabel: what}); // a long one scrolls
      box.append(make("b", "", what), node);
    };
    if (row.system) full("System prompt", row.system);
    full(row.turns ? `Prompt, after ${row.turns} earlier message${row.turns === 1 ? "" : "s"}` : "Prompt", row.prompt);
    const line = box.appendChild(make("div", "files"));
    line.append(make("span", "", "Download"));
    for (const [words, ending] of [["Parquet", "parquet"], ["JSON", "json"], ["CSV of cycles", "csv"], ["HTML report", "html"]]) {
      const link = line.appendChild(make("a", "", words));
      Object.assign(link, {href: runFile([row.id], ending), download: ""});
    }
    if (row.sample) line.append(make("span", "note", "A sample trace of this server: it cannot be renamed or deleted."));
    else button(line, "Delete", `Delete ${row.title}`, () => act.forget([row.id]), "forget");
  }

  Object.assign(window.dcoco, {button, runRow, runFile});
})();
