"""Loops, found in token lists written by hand, and compared with a search that tries everything."""

import numpy as np
import pytest

from dcoco_viz.metrics.repetition import LEAST, TIMES, Loop, loop


def test_a_text_that_ends_in_a_loop():
    head, gram = list(range(100, 110)), [1, 2, 3, 4, 5, 6, 7, 8]
    found = loop(head + gram * 4 + gram[:3])
    assert found == Loop((1, 2, 3, 4, 5, 6, 7, 8), start=10, covered=35)
    assert found.times == 4


def test_a_loop_in_the_middle():
    found = loop([9, 8, *[1, 2] * 15, 7, 6, 5])
    assert found == Loop((1, 2), start=2, covered=30)


def test_one_token_over_and_over():
    assert loop([5, *[3] * 24]) == Loop((3,), start=1, covered=24)
    assert loop([5, *[3] * 23]) is None


@pytest.mark.parametrize("times", [1, 2])
def test_too_few_repeats(times):
    assert loop(list(range(20)) * times) is None


def test_a_list_whose_lines_differ_is_no_loop():
    lines = [[7, 30, n, 31, 7 * n, 32] for n in range(100, 115)]
    assert loop([t for line in lines for t in line]) is None


def test_the_longest_of_two():
    found = loop([1] * 24 + [50, 51] + [2, 3, 4] * 12)
    assert found == Loop((2, 3, 4), start=26, covered=36)


@pytest.mark.parametrize("tokens", [[], [1], [1, 1, 1]])
def test_short_texts(tokens):
    assert loop(tokens) is None


def brute(tokens):
    best = None
    for n in range(1, len(tokens) // TIMES + 1):
        for start in range(len(tokens)):
            stop = start + n
            while stop < len(tokens) and tokens[stop] == tokens[stop - n]:
                stop += 1
            covered = stop - start
            if covered >= max(LEAST, TIMES * n) and (best is None or covered > best.covered):
                best = Loop(tuple(tokens[start : start + n]), start, covered)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_against_a_search_that_tries_everything(seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, 3, 20).tolist()
    for _ in range(3):
        gram = rng.integers(0, 3, rng.integers(1, 13)).tolist()
        tokens += gram * int(rng.integers(1, 6)) + rng.integers(0, 3, 3).tolist()
    assert loop(tokens) == brute(tokens)
