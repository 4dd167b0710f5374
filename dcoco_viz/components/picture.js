// What grid and heatmap show of a cycle, as plain values: their tables and their drawings in motion are made of these.
(() => {
  const {palette, signed, minus} = window.dcoco;
  const FLOOR = Math.log10(0.001); // probability at the lower end of the colours
  const LIMIT = 2; // of the correction's colours, in logits, the same in every cycle so that pictures compare

  const step = (p) => Number.isNaN(p) ? 0 : Math.round((palette.steps - 1) * (1 - Math.min(1, Math.max(0, Math.log10(Math.max(p, 1e-9)) / FLOOR))));
  const share = (p) => (Number.isNaN(p) ? "–" : p >= 0.9995 ? "1.00" : p >= 0.0005 ? p.toFixed(3).slice(1) : "<.001");

  // Text, probability and colour of every candidate, slot by slot; they are the record's own and stay.
  function faces(lane, grid) {
    grid.faces ??= Array.from(grid.ids, (id, at) => {
      const p = grid.lognorm ? Math.exp(grid.logits[at] - grid.lognorm[Math.floor(at / grid.ranks)]) : NaN; // not every record has it
      return {id, text: lane.show(id), share: share(p), step: step(p)};
    });
    return grid.faces;
  }

  // One slot: how it fared, where the drafter's argmax and the chosen path run, where the verifier's token is held.
  function slot(lane, cycle, grid, j) {
    const {accepted, submitted} = cycle, {ranks, ids} = grid, dense = !submitted;
    const verdict = lane.verdict(cycle, j), unsent = j >= submitted, chosen = cycle.ranks[j];
    const held = verdict ? ids.subarray(j * ranks, (j + 1) * ranks).indexOf(verdict.id) : -1;
    const foot = !verdict ? {text: "", where: "text ends"}
      : {text: lane.show(verdict.id), where: held < 0 ? "not in pool" : `rank ${held + 1}`};
    return {chosen, held, ...foot, known: !!verdict, later: !!verdict?.late, unsent, dim: !dense && (unsent || j > accepted),
            hatched: !dense && unsent, taken: j < accepted, argmax: chosen !== 0,
            state: unsent ? "unsent" : j < accepted ? "taken" : j === accepted ? "refused" : "after"};
  }

  function lattice(lane) {
    const cycle = lane.cycle, grid = lane.grid(cycle);
    if (!grid) return null;
    const slots = Array.from({length: grid.slots}, (_, j) => slot(lane, cycle, grid, j));
    return {cycle, ranks: grid.ranks, slots, faces: faces(lane, grid), anchor: lane.show(cycle.anchor),
            dense: !cycle.submitted, strays: slots.some((s) => s.argmax)};
  }

  // What stands in a cell of the grid beside its token, in words and as classes.
  const marks = (s, k) => [s.chosen === k && "chosen", k === 0 && s.argmax && "argmax", s.held === k && (s.later ? "ring later" : "ring"),
                           s.dim && "dim", s.unsent && "unsent", s.hatched && "hatched", s.chosen === k && s.taken && "taken"].filter(Boolean);
  const words = (s, k) => [s.chosen === k && (s.taken ? "chosen and accepted" : s.state === "refused" ? "chosen and refused" : "chosen"),
                           k === 0 && s.argmax && "the drafter's argmax",
                           s.held === k && (s.later ? "committed here later" : "the verifier's token")].filter(Boolean);

  function range(list) {
    let low = Infinity, high = -Infinity;
    for (const x of list) { low = Math.min(low, x); high = Math.max(high, x); }
    return [low, high];
  }

  // The transitions of the lane's slot pair: the text and colour step of every successor (columns) behind every
  // predecessor (rows), or behind the chosen one alone, where no other was scored: `places` are the ranks of the rows.
  // null: no scores in this cycle; undefined: not fetched yet.
  function heat(lane, mode) {
    const cycle = lane.cycle, grid = lane.grid(cycle);
    if (!lane.scored(grid)) return null;
    const pair = lane.pairIn(grid), n = grid.ranks, alone = pair < 0 || !grid.walked;
    const scores = alone ? grid.corrected.subarray((pair + 1) * n, (pair + 2) * n) : lane.scoresOf(cycle.index, pair);
    if (!scores) return undefined;
    const places = alone ? [pair < 0 ? -1 : cycle.ranks[pair]] : Array.from({length: n}, (_, a) => a);
    const bases = grid.logits.subarray((pair + 1) * n, (pair + 2) * n), values = new Float64Array(scores.length);
    for (let a = 0; a < places.length; a++) {
      let level = 0; // a row's own: the walk compares within a row, and training leaves this free
      if (mode === "delta") for (let b = 0; b < n; b++) level += (scores[a * n + b] - bases[b]) / n;
      for (let b = 0; b < n; b++) values[a * n + b] = mode === "base" ? bases[b] : scores[a * n + b] - (mode === "delta" ? bases[b] + level : 0);
    }
    const [low, high] = mode === "delta" ? [-LIMIT, LIMIT] : range(mode === "S" ? scores : bases), last = mode === "delta" ? palette.steps : palette.steps - 1;
    const steps = Array.from(values, (x) => Math.round(last * Math.min(1, Math.max(0, (x - low) / (high - low || 1)))));
    const texts = Array.from(values, (x) => (mode === "delta" ? signed(x, 1) : minus(x, 1)));
    const name = (j, k) => lane.show(j < 0 ? cycle.anchor : grid.ids[j * n + k]);
    return {cycle, pair, n, places, scores, bases, texts, steps, low, high, rows: places.map((k) => name(pair, k)),
            columns: Array.from({length: n}, (_, k) => name(pair + 1, k)), from: alone ? 0 : cycle.ranks[pair], to: cycle.ranks[pair + 1]};
  }

  Object.assign(window.dcoco, {lattice, marks, words, heat, LIMIT});
})();
