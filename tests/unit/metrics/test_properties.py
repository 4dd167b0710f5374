"""What holds for every run, and the metrics against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.metrics.coverage import coverage
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.origin import ORIGINS, origins
from dcoco_viz.metrics.prefix import accepted_histogram, prefixes, tau
from dcoco_viz.metrics.summary import RunSummary
from tests.unit.factory import make_run

RUNS = st.builds(
    make_run,
    slots=st.integers(1, 6),
    pool=st.integers(1, 5),
    cycles=st.integers(1, 6),
    submit=st.sampled_from([None, 1]),
    cut=st.integers(0, 3),
    seed=st.integers(0, 10_000),
)


@given(st.lists(RUNS, min_size=1, max_size=3), st.integers(1, 5))
def test_coverage_against_a_loop(runs, k):
    hit, seen = {}, {}
    for run in runs:
        text = run.prompt_ids + run.token_ids
        for cycle in run.cycles:
            for j, candidates in enumerate(cycle.candidates.tolist()):
                at = cycle.anchor_position + j + 1
                if at < len(text):
                    seen[j] = seen.get(j, 0) + 1
                    hit[j] = hit.get(j, 0) + (text[at] in candidates[:k])
    share, counts = coverage(runs, ks=(k,))
    assert counts.tolist() == [seen.get(j, 0) for j in range(len(counts))]
    if k > min(cycle.candidates.shape[1] for run in runs for cycle in run.cycles):
        assert np.isnan(share[k]).all()
    else:
        expected = [hit[j] / seen[j] if j in seen else np.nan for j in range(len(counts))]
        np.testing.assert_array_equal(share[k], expected)


@given(RUNS)
def test_more_candidates_never_cover_less(run):
    share, _ = coverage([run], ks=(1, 2, 3))
    for less, more in ((1, 2), (2, 3)):
        known = ~np.isnan(share[more])
        assert (share[less][known] <= share[more][known]).all()


@given(RUNS)
def test_prefixes_against_a_loop(run):
    text = run.prompt_ids + run.token_ids
    for cycle in run.cycles:
        true = text[cycle.anchor_position + 1 :]
        top1 = [row[0] for row in cycle.candidates.tolist()]
        chosen = [
            row[rank] for row, rank in zip(cycle.candidates.tolist(), cycle.ranks.tolist(), strict=True)
        ]
        lengths = []
        for fits in (
            lambda j: top1[j] == true[j],  # noqa: B023
            lambda j: chosen[j] == true[j],  # noqa: B023
            lambda j: true[j] in cycle.candidates[j].tolist(),  # noqa: B023
        ):
            j = 0
            while j < min(len(true), len(top1)) and fits(j):
                j += 1
            lengths.append(j)
        got = prefixes(run, cycle)
        assert list(got) == lengths
        assert got.oracle >= max(got.top1, got.selected)
        assert got.selected >= min(cycle.accepted, len(cycle.committed))  # what was accepted is the text


@given(RUNS)
def test_tau_and_the_histogram_tell_of_the_same_cycles(run):
    histogram = accepted_histogram(run)
    accepted = int(histogram @ np.arange(len(histogram)))
    clipped = sum(cycle.accepted + 1 - len(cycle.committed) for cycle in run.cycles)
    assert histogram.sum() == len(run.cycles)
    assert tau(run) * len(run.cycles) == accepted + len(run.cycles) - clipped


@given(RUNS)
def test_every_token_has_one_origin(run):
    got = origins(run)
    assert len(got) == len(run.token_ids) and set(got) <= set(ORIGINS)
    assert got.count("bonus") == sum(len(cycle.committed) == cycle.accepted + 1 for cycle in run.cycles)


def test_every_number_of_a_summary_is_defined():
    assert set(RunSummary._fields) - {"method", "walk"} <= set(DEFINITIONS)
    assert all(all(definition[:3]) for definition in DEFINITIONS.values())
