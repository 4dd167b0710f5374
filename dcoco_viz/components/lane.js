// A lane: the run that is shown in one column of the page, the cycle selected in it, and what listens to it.
// Events: "run" another run, "cycles" more of it, "figures" new numbers, "select" another cycle,
// "follow" whether the newest one is followed, "pair" another slot pair.
(() => {
  const ARRAYS = {"<i4": Int32Array, "<f4": Float32Array, "<f2": Uint16Array};

  function decode(text, type) {
    if (!text) return null;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const numbers = new ARRAYS[type](bytes.buffer);
    return type === "<f2" ? Float32Array.from(numbers, half) : numbers;
  }

  function half(h) {
    const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  }

  class Lane extends EventTarget {
    constructor(name) { super(); this.name = name; this.open(null); }

    open(run) {
      Object.assign(this, {run, cycles: [], tokens: [], pieces: new Map(), figures: null, state: null,
                           selected: -1, follow: true, pair: this.pair ?? 0, scores: new Map(), prefilled: false});
      this.special = new Set(run?.special ?? []);
      this.emit("run");
    }

    emit(type) { this.dispatchEvent(new Event(type)); }

    on(types, callback) {
      let due = false; // redraw once a frame, however much has happened
      const later = () => {
        if (due) return;
        due = true;
        requestAnimationFrame(() => { due = false; callback(); });
      };
      types.split(" ").forEach((type) => this.addEventListener(type, later));
      later();
    }

    learn(pieces) { for (const [id, piece] of Object.entries(pieces)) this.pieces.set(+id, piece); }

    prefill(run) {
      if (this.prefilled || !run.prefill.length) return;
      this.prefilled = true;
      this.learn(run.pieces);
      this.tokens.unshift(...run.prefill.map((id) => ({id, cycle: -1, origin: "p"})));
    }

    // Records in order, the next one first.
    add(records) {
      if (!records.length) return;
      for (const record of records) {
        this.learn(record.pieces);
        record.committed.forEach((id, i) =>
          this.tokens.push({id, cycle: record.index, origin: record.origins[i]}));
        this.cycles.push(record);
      }
      this.emit("cycles");
      if (this.follow) this.go(this.cycles.length - 1);
      else if (this.selected < 0) this.go(0);
    }

    go(index) {
      index = Math.max(0, Math.min(this.cycles.length - 1, index));
      if (!this.cycles.length || index === this.selected) return;
      this.selected = index;
      this.emit("select");
    }

    // The user's own move: stop following, except where it ends on the newest cycle of a run that goes on.
    scrub(index) {
      this.follow = this.running && index >= this.cycles.length - 1;
      this.go(index);
      this.emit("follow");
    }

    live() { this.follow = true; this.go(this.cycles.length - 1); this.emit("follow"); }

    get running() { return this.state === "running"; }
    get cycle() { return this.cycles[this.selected]; }
    get color() { return `var(--method-${this.run.method})`; }

    setPair(pair) {
      this.pair = Math.max(0, Math.min((this.run?.shape?.[0] ?? 2) - 2, pair));
      this.emit("pair");
    }

    // The numbers of a record, decoded when first looked at.
    grid(record) {
      if (!record?.candidates) return null;
      if (!record.grid) {
        const [slots, ranks] = record.shape;
        record.grid = {slots, ranks, ids: decode(record.candidates, "<i4"), logits: decode(record.logits, "<f4"),
                       lognorm: decode(record.lognorm, "<f4"), walked: decode(record.walked, "<f2")};
      }
      return record.grid;
    }

    // The token committed at slot j (from 0) of a cycle's block, now or later; undefined where the text ends first.
    truth(record, j) { return this.tokens[record.position + 1 + j - this.run.prompt_tokens]?.id; }

    // What is known of the verifier's choice at a slot: its own argmax up to the first rejection (and the slot after
    // an accepted block), the committed text behind it.
    verdict(record, j) {
      if (j <= record.accepted && j < record.verifier.length) return {id: record.verifier[j], late: false};
      const id = this.truth(record, j);
      return id === undefined ? null : {id, late: true};
    }

    show(id) { return window.dcoco.visible(this.pieces.get(id)); }
  }

  const lanes = {a: new Lane("a"), b: new Lane("b")};
  const dark = () => document.body.classList.contains("dark");

  // Keys work wherever nobody is typing or moving through a table.
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = (selector) => event.target.closest?.(selector);
    if (at("input, textarea, select, [contenteditable], table, [role=tab], [role=listbox]")) return;
    if (event.key === " " && at("button, a, summary")) return;
    const lane = lanes[at("[data-lane]")?.dataset.lane ?? "a"];
    if (!lane.cycles.length) return;
    const moves = {ArrowLeft: lane.selected - 1, ArrowRight: lane.selected + 1, Home: 0, End: lane.cycles.length - 1};
    if (event.key in moves) lane.scrub(moves[event.key]);
    else if (event.key === "[" || event.key === "]") lane.setPair(lane.pair + (event.key === "]" ? 1 : -1));
    else if (event.key === " ") lane.emit("play");
    else return;
    event.preventDefault();
  });

  const make = (tag, name = "", text = "") => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text) node.textContent = text;
    return node;
  };

  // A term inside `parent` that shows its definition (metrics/names.py) when pointed at or focused.
  const explain = (parent, words, definition, id) => {
    const term = parent.appendChild(make("span", "dv-term", words)), tip = parent.appendChild(make("span", "dv-tip"));
    term.tabIndex = 0;
    tip.id = "dv-tip-" + id;
    tip.setAttribute("role", "tooltip");
    term.setAttribute("aria-describedby", tip.id);
    tip.append(make("b", "", definition.label), make("code", "", definition.formula), make("span", "", definition.text));
  };

  Object.assign(window.dcoco, {
    lanes, decode, make, explain,
    scale: (name) => window.dcoco.palette.scales[dark() ? "dark" : "light"][name],
    onTheme: (callback) => new MutationObserver(callback).observe(document.body, {attributeFilter: ["class"]}),
  });
})();
