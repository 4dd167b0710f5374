const {lanes} = window.dcoco;
window.dcoco.branch = ({run, cycle, slot, rank}) => {
  if (lanes.a.run?.id !== run) window.dcoco.wish = {run, cycle}; // the parent moves into the first lane: stay at this cycle
  trigger("branch", {run, cycle, slot, rank});
};
