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

// Scores of one slot pair come a window of cycles at a time, the next one before it is needed: scrubbing does not wait.
const WINDOW = 40, asked = new Map(), key = (cycle, pair) => `${pair}:${cycle}`;
lane.loadScores = (cycle, pair) => {
  if (lane.scores.has(key(cycle, pair))) return null;
  const live = lane.follow && lane.running, start = live ? cycle : cycle - (cycle % WINDOW);
  const query = {run: lane.run.id, pair, start, stop: Math.min(lane.cycles.length, live ? cycle + 1 : start + WINDOW)};
  const name = JSON.stringify(query);
  if (!asked.has(name)) asked.set(name, fetchScores(query).finally(() => asked.delete(name)));
  return asked.get(name);
};
async function fetchScores({run, pair, start, stop}) {
  const found = await server.scores({run, pair, start, stop});
  if (lane.run?.id === run) found.forEach((text, i) => lane.scores.set(key(start + i, pair), window.dcoco.decode(text, "<f2")));
}
lane.want = (cycle, pair) => {
  if (lane.follow && lane.running) return;
  for (const near of [cycle + WINDOW / 2, cycle - WINDOW / 2])
    if (lane.cycles[near]) lane.loadScores(near, pair)?.catch((error) => console.warn("scores ahead could not be fetched", error));
};
lane.scoresOf = (cycle, pair) => lane.scores.get(key(cycle, pair));

watch("value", apply);
apply();
