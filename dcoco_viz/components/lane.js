// A lane: the run that is shown in one column of the page, the cycle selected in it, and what listens to it.
// Events: "run" another run, "cycles" more of it, "figures" new numbers, "select" another cycle,
// "follow" whether the newest one is followed, "pair" another slot pair.
(() => {
  const REST = 8; // frames without a move until a lane stands still; a key that is held down comes every second or third
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
                           selected: -1, follow: true, pair: Math.max(0, this.pair ?? 0), scores: new Map(), prefilled: false,
                           texts: new Map(), given: run?.given ?? []});
      this.special = new Set(run?.special ?? []);
      this.emit("run");
    }

    emit(type) { this.dispatchEvent(new Event(type)); }

    // Redraw once a frame, however much has happened.
    on(types, callback, first = false) {
      const later = () => this.due(callback, first);
      types.split(" ").forEach((type) => this.addEventListener(type, later));
      later();
    }

    due(callback, first) {
      if (!this.work) {
        this.work = [new Set(), new Set()];
        requestAnimationFrame(() => {
          const [pictures, others] = this.work;
          this.work = null;
          for (const act of [...pictures, ...others]) try { act(); } catch (error) { reportError(error); }
        });
      }
      this.work[first ? 0 : 1].add(callback);
    }

    // For what takes long: `draw` is called once a frame, and `settle` when it has not said for a moment that something
    // moves. So a picture is right at once, and the table behind it a little later. It comes first in a frame: text on a
    // canvas needs the page's styles, and would wait for those that other views make stale.
    onRest(types, draw, settle) {
      let still = REST;
      const wait = () => {
        if (++still < REST) requestAnimationFrame(wait);
        else settle();
      };
      this.on(types, () => {
        if (!draw()) return;
        if (still >= REST) requestAnimationFrame(wait);
        still = 0;
      }, true);
    }

    learn(pieces) {
      for (const [id, piece] of Object.entries(pieces)) {
        this.pieces.set(+id, piece);
        this.texts.delete(+id);
      }
    }

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
      this.grant();
    }

    go(index) {
      index = Math.max(0, Math.min(this.cycles.length - 1, index));
      if (!this.cycles.length || index === this.selected) return;
      this.selected = index;
      this.emit("select");
    }

    // The user's own move: stop following, except where it ends on the newest cycle of a run that goes on.
    scrub(index) {
      window.dcoco.wish = null;
      window.dcoco.focus = this;
      this.follow = this.running && index >= this.cycles.length - 1;
      this.go(index);
      this.emit("follow");
    }

    live() { this.follow = true; this.go(this.cycles.length - 1); this.emit("follow"); }

    // A link or another view asked for a cycle of this run: go there as soon as it has come. The wish stays until the
    // user moves, since the run may be on its way from one lane to the other.
    grant() {
      const wish = window.dcoco.wish;
      if (!wish || wish.run !== this.run?.id || this.cycles.length <= wish.cycle) return false;
      if (wish.granted === this.cycles) return true;
      wish.granted = this.cycles;
      this.scrub(wish.cycle);
      window.dcoco.wish = wish;
      return true;
    }

    get running() { return this.state === "running"; }
    get cycle() { return this.cycles[this.selected]; }
    get color() { return `var(--method-${this.run.method})`; }

    // Pair p leads from slot p to slot p + 1, both from 0; pair -1 from the anchor, where a head scores that step.
    setPair(pair) {
      this.pair = Math.max(this.lowest(this.grid(this.cycle)), Math.min((this.run?.shape?.[0] ?? 2) - 2, pair));
      this.emit("pair");
    }

    // Whether transitions can be shown: a grid of them, or of a serial head the rows that it scored.
    scored(grid) { return !!(grid?.walked || (grid?.corrected && this.run.serial)); }
    lowest(grid) { return grid?.corrected ? -1 : 0; }
    pairIn(grid) { return Math.max(this.lowest(grid), Math.min(this.pair, grid.slots - 2)); }

    // The numbers of a record, decoded when first looked at.
    grid(record) {
      if (!record?.candidates) return null;
      if (!record.grid) {
        const [slots, ranks] = record.shape;
        record.grid = {slots, ranks, ids: decode(record.candidates, "<i4"), logits: decode(record.logits, "<f4"),
                       lognorm: decode(record.lognorm, "<f4"), walked: decode(record.walked, "<f2"),
                       corrected: decode(record.corrected, "<f4")};
      }
      return record.grid;
    }

    // The head's score of candidate k of slot j, given what was chosen before it; NaN where it has none.
    score(grid, j, k) {
      if (grid.corrected) return grid.corrected[j * grid.ranks + k];
      return j && grid.walked ? grid.walked[(j - 1) * grid.ranks + k] : NaN;
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

    show(id) {
      if (!this.texts.has(id)) this.texts.set(id, window.dcoco.visible(this.pieces.get(id)));
      return this.texts.get(id);
    }
  }

  const lanes = {a: new Lane("a"), b: new Lane("b")};
  window.dcoco.focus = lanes.a; // the lane that was moved last: keys and the address are about it
  const dark = () => document.body.classList.contains("dark");

  // Keys work wherever nobody is typing or moving through a table.
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = (selector) => event.target.closest?.(selector);
    if (at("input, textarea, select, [contenteditable], table, [role=tab], [role=listbox]")) return;
    if (event.key === " " && at("button, a, summary")) return;
    if (document.body.dataset.view && document.body.dataset.view !== "explore") return;
    const lane = lanes[at("[data-lane]")?.dataset.lane] ?? window.dcoco.focus;
    if (!lane.cycles.length) return;
    const moves = {ArrowLeft: lane.selected - 1, ArrowRight: lane.selected + 1, Home: 0, End: lane.cycles.length - 1};
    if (event.key in moves) lane.scrub(moves[event.key]);
    else if (event.key === "[" || event.key === "]") lane.setPair(lane.pair + (event.key === "]" ? 1 : -1));
    else if (event.key === " ") lane.emit("play");
    else return;
    event.preventDefault();
  });

  Object.assign(window.dcoco, {
    lanes, decode,
    scale: (name) => window.dcoco.palette.scales[dark() ? "dark" : "light"][name],
    onTheme: (callback) => new MutationObserver(callback).observe(document.body, {attributeFilter: ["class"]}),
  });
})();
