// What the views of runs beside each other share: names of runs, names of origins, and the way to a cycle in Explore.
(() => {
  const {make} = window.dcoco;
  const KINDS = { // code -> class, letter, words
    d: ["draft", "D", "accepted draft"],
    c: ["corrected", "C", "chosen by the head, accepted"],
    b: ["bonus", "V", "the verifier's own, bonus or replacement"],
    p: ["prefill", "P", "prefill"],
    n: ["plain", "·", "plain decoding"],
  };

  // The run's name inside `parent`: glyph and colour of its method, label, and how it was decoded.
  function title(parent, run) {
    const glyph = parent.appendChild(make("span", "glyph", window.dcoco.glyphs[run.method]));
    glyph.setAttribute("aria-hidden", "true");
    glyph.style.color = `var(--method-${run.method})`;
    parent.append(make("span", "name", run.label));
    if (run.detail) parent.append(make("span", "way", run.detail));
  }

  // Explore, with this run first and the others behind it, so that the way back shows the same comparison.
  function open(run, runs, cycle) {
    const others = runs.filter((other) => other !== run.id);
    window.dcoco.open({view: "explore", runs: [run.id, ...others].slice(0, 4), cycle: cycle + 1, method: run.method});
  }

  const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

  window.dcoco.compared = {KINDS, title, open, seconds, plural};
})();
