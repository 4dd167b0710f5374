// What is known of one candidate of the grid, and the way to branch off at it.
(() => {
  const {make, strip, write, minus, signed, words} = window.dcoco;

  // Builds the strip inside `parent`; returns show(j, k), for slot j and rank k of the lane's cycle, both from 0.
  function detail(lane, parent, terms) {
    const root = parent.appendChild(make("div", "detail")), what = root.appendChild(make("div", "what"));
    const token = what.appendChild(make("bdi", "tok")), where = what.appendChild(make("span", "where")), state = what.appendChild(make("span", "state"));
    const {probability, verifier_logprob, ...parts} = terms;
    const values = strip(root, {probability, verifier_logprob, after: {label: "after"}, ...parts}, `${lane.name}-cell`);
    const before = values.after.value.appendChild(make("bdi", "tok"));
    const branch = root.appendChild(make("button", "branch", "Branch here"));
    branch.type = "button";
    let spot = null;

    // Why no new run can begin with this candidate; "" where one can.
    function obstacle(cycle, j, id) {
      if (j && lane.truth(cycle, j - 1) === undefined) return "the text ends before this slot";
      const there = lane.truth(cycle, j);
      if (there === undefined && lane.run.finish === "stop") return "the text ends before this slot";
      return there === id ? "this is the token that the text has here" : "";
    }

    function act() {
      if (!spot || !window.dcoco.branch || branch.getAttribute("aria-disabled") === "true") return;
      window.dcoco.branch({run: lane.run.id, cycle: lane.cycle.index, slot: spot.j + 1, rank: spot.k});
    }
    branch.addEventListener("click", act);

    function verifier(cycle, j, id) {
      if (j >= cycle.submitted || cycle.drafted[j] !== id) return ["–", "not drafted, so the verifier's figure was not kept"];
      if (!cycle.logprob.length) return ["–", "not recorded"];
      const known = cycle.logprob[j], behind = j > cycle.accepted;
      const text = known === null ? "−∞" : minus(known, 2);
      return [behind ? `(${text})` : text, behind ? "computed behind a refused token, so not for this text" : ""];
    }

    function show(j, k) {
      const cycle = lane.cycle, grid = lane.grid(cycle), picture = lane.picture;
      root.hidden = !grid;
      if (!grid || !picture || j >= grid.slots || k >= grid.ranks) return;
      spot = {j, k};
      const at = j * grid.ranks + k, id = grid.ids[at], logit = grid.logits[at], slot = picture.slots[j];
      write(token, picture.faces[at].text);
      write(where, `slot ${j + 1}, rank ${k + 1}, id ${id}`);
      const fate = {unsent: "not submitted", after: "behind the first error", taken: "", refused: ""}[slot.state];
      write(state, [...words(slot, k), fate].filter(Boolean).join(" · "));
      write(values.probability.value, grid.lognorm ? Math.exp(logit - grid.lognorm[j]).toPrecision(3) : "–");
      const [text, why] = verifier(cycle, j, id);
      write(values.verifier_logprob.value, text);
      values.verifier_logprob.value.title = why;
      for (const name of ["after", "score", "delta"]) values[name].item.hidden = !grid.walked && !grid.corrected;
      const score = lane.score(grid, j, k), scored = !Number.isNaN(score);
      write(before, !j ? picture.anchor : scored ? lane.show(grid.ids[(j - 1) * grid.ranks + cycle.ranks[j - 1]]) : "–");
      const unscored = j ? "no transition was scored here" : "the anchor; the step from it is not scored, walks begin in slot 1";
      values.after.value.title = !scored ? unscored : j ? `the token that was chosen in slot ${j}` : "the anchor, the last committed token";
      write(values.score.value, scored ? `${minus(score, 2)} =` : "–");
      write(values.base.value, minus(logit, 2));
      write(values.delta.value, scored ? signed(score - logit, 2) : "–");
      branch.hidden = !window.dcoco.branch;
      const reason = obstacle(cycle, j, id);
      branch.setAttribute("aria-disabled", reason !== "");
      branch.title = reason ? `No branch here: ${reason}` : "Decode on from this candidate, as a run of its own (b)";
    }

    return {show, act};
  }

  Object.assign(window.dcoco, {detail});
})();
