// Pours what arrives into the lane; fetches cycles that a busy browser, or a run opened whole, has not got yet.
const lane = window.dcoco.lanes[props.lane];
let fetching = false;

function apply() {
  const value = props.value;
  if (!value || !value.run) { if (lane.run) lane.open(null); return; }
  const {run, ring, count, figures, state} = value;
  if (lane.run?.id !== run.id) {
    lane.open(run);
    lane.follow = state !== "done"; // a finished run opens at its first cycle
  }
  lane.run = run;
  lane.prefill(run);
  lane.state = state;
  lane.figures = figures;
  lane.count = count;
  lane.emit("figures");
  const fresh = []; // those of the ring that are new here
  for (let i = Math.max(lane.cycles.length, count - ring.length); i < count; i++) fresh.push(JSON.parse(ring[i % ring.length]));
  take(fresh);
  if (lane.cycles.length < count && !fetching) fetchRest(run.id);
}

function take(records) {
  const have = lane.cycles.length;
  records = records.filter((record) => record.index >= have);
  if (records.length && records[0].index === have) lane.add(records);
}

async function fetchRest(id) {
  fetching = true;
  try {
    while (lane.run?.id === id && lane.cycles.length < lane.count) {
      const start = lane.cycles.length;
      const records = await server.records({run: id, start, stop: lane.count});
      if (lane.run?.id !== id || !records.length) break;
      take(records);
    }
  } catch (error) { console.error("cycles could not be fetched", error); }
  fetching = false;
  if (lane.run && lane.run.id !== id) apply();
}

// Scores of one slot pair, a window of cycles around the one looked at, so that scrubbing does not wait.
const WINDOW = 24;
lane.loadScores = async (cycle, pair) => {
  const id = lane.run.id, key = (i) => `${pair}:${i}`;
  if (lane.scores.has(key(cycle))) return;
  const start = lane.follow && lane.running ? cycle : Math.max(0, cycle - WINDOW / 2);
  const stop = Math.min(lane.cycles.length, lane.follow && lane.running ? cycle + 1 : start + WINDOW);
  const found = await server.scores({run: id, pair, start, stop});
  if (lane.run?.id !== id) return;
  found.forEach((text, i) => lane.scores.set(key(start + i), window.dcoco.decode(text, "<f2")));
};
lane.scoresOf = (cycle, pair) => lane.scores.get(`${pair}:${cycle}`);

watch("value", apply);
apply();
