import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lattice import walk
from dcoco_viz.lattice.walk import Walk, choose, lengths, parse


def by_hand(first: list[float], scores: list[list[list[float]]]) -> list[int]:
    """The walk as METHOD words it; list.index takes the first of equals."""
    path = [first.index(max(first))]
    for transition in scores:
        row = transition[path[-1]]
        path.append(row.index(max(row)))
    return path


def successors(row, top=None, k=None):
    """Ranks below k that may follow, the `top` best of them; of equals the lower rank is the better."""
    ranks = range(min(k or len(row), len(row)))
    return sorted(ranks, key=lambda b: (-row[b], b))[:top]


def every_path(first, scores, top=None, k=None):
    """All paths that a walk may take."""
    paths = [successors(first, 1, k)]
    for transition in scores:
        paths = [path + [b] for path in paths for b in successors(transition[path[-1]], top, k)]
    return paths


def value(path, scores, weight):
    steps = zip(path, path[1:], strict=False)
    return sum(weight**p * scores[p][a][b] for p, (a, b) in enumerate(steps))


def beam_by_hand(first, scores, weight, width, top=None, k=None):
    """The value of the path that a beam finds: partial paths as lists, one for each candidate that ends them."""
    beam = every_path(first, [], top, k)
    for transition in scores:
        longer = [path + [b] for path in beam for b in successors(transition[path[-1]], top, k)]
        longer.sort(key=lambda path: -value(path, scores, weight))
        beam = list({path[-1]: path for path in reversed(longer)}.values())
        beam = sorted(beam, key=lambda path: -value(path, scores, weight))[:width]
    return max(value(path, scores, weight) for path in beam)


@st.composite
def lattices(draw):
    """logits [R, B, K] and scores [R, B-1, K, K] as nested lists, of few distinct values, so that ties are common."""
    r, b, k = draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    numbers = (torch.randint(-3, 4, shape, generator=generator).float() for shape in ((r, b, k), (r, b - 1, k, k)))
    return *(tensor.tolist() for tensor in numbers), k


def taken(name, logits, scores, k):
    return choose(parse(name), torch.tensor(logits), torch.tensor(scores).reshape(len(logits), -1, k, k))


@given(lattices())
def test_greedy_equals_the_walk_by_hand(lattice):
    logits, scores, k = lattice
    first, tensor = torch.tensor(logits)[:, 0], torch.tensor(scores).reshape(len(logits), -1, k, k)
    ranks = walk.greedy(first, tensor)
    assert ranks.dtype == torch.int64
    assert ranks.tolist() == [by_hand(block[0], s) for block, s in zip(logits, scores, strict=True)]
    # and the same without the batch dimension
    assert walk.greedy(first[0], tensor[0]).tolist() == ranks[0].tolist()
    assert taken("greedy", logits, scores, k).tolist() == ranks.tolist()


WEIGHTS = {"global-sum": 1.0, "geometric:0.75": 0.75, "geometric:0.01": 0.01, "geometric:1": 1.0}
TOPS, POOLS = st.none() | st.integers(1, 5), st.none() | st.integers(1, 5)


def named(rule, top, k):
    return rule + (f"+top:{top}" if top else "") + (f"+k:{k}" if k else "")


@given(lattices(), st.sampled_from(sorted(WEIGHTS)), TOPS, POOLS)
def test_the_weighted_sum_is_the_greatest_of_all_paths(lattice, rule, top, n):
    logits, scores, k = lattice
    ranks = taken(named(rule, top, n), logits, scores, k)
    assert ranks.dtype == torch.int64
    for path, block, s in zip(ranks.tolist(), logits, scores, strict=True):
        allowed = every_path(block[0], s, top, n)
        assert path in allowed
        best = max(value(p, s, WEIGHTS[rule]) for p in allowed)
        assert value(path, s, WEIGHTS[rule]) == pytest.approx(best, abs=1e-9)


@given(lattices())
def test_of_equal_sums_the_lower_ranks_are_taken_from_the_left(lattice):
    logits, scores, k = lattice
    for path, block, s in zip(taken("global-sum", logits, scores, k).tolist(), logits, scores, strict=True):
        paths = every_path(block[0], s)
        best = max(value(p, s, 1.0) for p in paths)
        assert path == min(p for p in paths if value(p, s, 1.0) == best)


@given(lattices(), st.integers(1, 5), TOPS, POOLS, st.integers(0, 2**31))
def test_a_beam_equals_the_beam_by_hand(lattice, width, top, n, seed):
    """Which of two equal partial paths lives on decides what the beam finds, so the scores here are all different."""
    logits, scores, k = lattice
    scores = torch.tensor(scores, dtype=torch.float64).reshape(len(logits), -1, k, k)
    scores += torch.rand(scores.shape, dtype=scores.dtype, generator=torch.Generator().manual_seed(seed))
    ranks = choose(parse(named(f"beam:{width}", top, n)), torch.tensor(logits), scores)
    for path, block, s in zip(ranks.tolist(), logits, scores.tolist(), strict=True):
        assert path in every_path(block[0], s, top, n)
        assert value(path, s, 0.75) == pytest.approx(beam_by_hand(block[0], s, 0.75, width, top, n), abs=1e-9)


@given(lattices())
def test_a_beam_that_drops_nothing_is_geometric(lattice):
    logits, scores, k = lattice
    wide, exact = (taken(name, logits, scores, k).tolist() for name in ("beam:256", "geometric:0.75"))
    for a, b, s in zip(wide, exact, scores, strict=True):
        assert value(a, s, 0.75) == pytest.approx(value(b, s, 0.75), abs=1e-9)


@given(lattices(), st.sampled_from([*sorted(WEIGHTS), "beam:1", "beam:3"]))
def test_one_successor_leaves_only_the_greedy_path(lattice, rule):
    logits, scores, k = lattice
    greedy = taken("greedy", logits, scores, k).tolist()
    assert taken(f"{rule}+top:1", logits, scores, k).tolist() == greedy
    assert taken("beam:1", logits, scores, k).tolist() == greedy


@given(lattices(), st.sampled_from(["greedy", *sorted(WEIGHTS), "beam:2"]), TOPS, st.integers(1, 5))
def test_a_smaller_pool_is_never_left(lattice, rule, top, n):
    logits, scores, k = lattice
    assert (taken(named(rule, top, n), logits, scores, k) < n).all()


@given(st.sampled_from(["greedy", "global-sum", "geometric:0.5", "beam:2", "beam:3+top:2"]), st.integers(0, 2**31))
def test_blocks_do_not_see_each_other(name, seed):
    generator = torch.Generator().manual_seed(seed)
    logits, scores = torch.randn(2, 3, 6, 5, generator=generator), torch.randn(2, 3, 5, 5, 5, generator=generator)
    together = choose(parse(name), logits, scores)
    for i, j in itertools.product(range(2), range(3)):
        assert together[i, j].tolist() == choose(parse(name), logits[i, j], scores[i, j]).tolist()


def test_greedy_does_not_look_ahead_and_the_sum_does():
    logits = torch.tensor([[1.0, 0.9], [0.5, 0.4], [0.5, 0.4]])
    scores = torch.tensor([[[0.2, 0.1], [0.0, 0.0]], [[0.0, 0.0], [10.0, 9.0]]])
    assert choose(parse("greedy"), logits, scores).tolist() == [0, 0, 0]
    assert choose(parse("global-sum"), logits, scores).tolist() == [0, 1, 0]
    assert choose(parse("beam:2"), logits, scores).tolist() == [0, 1, 0]
    # the second transition counts a hundredth: 0.2 + 0 is less than 0.1 + 0.1 for L = 0.011, more for L = 0.009
    assert choose(parse("geometric:0.011"), logits, scores).tolist() == [0, 1, 0]
    assert choose(parse("geometric:0.009"), logits, scores).tolist() == [0, 0, 0]


def test_slot_1_is_the_drafters_whatever_would_follow():
    logits, scores = torch.tensor([[1.0, 0.9], [0.0, 0.0]]), torch.tensor([[[0.2, 0.1], [10.0, 0.0]]])
    for name in ("greedy", "global-sum", "geometric:0.75", "beam:2"):
        assert choose(parse(name), logits, scores).tolist() == [0, 0]


def test_a_small_weight_does_not_lose_the_last_slots_to_rounding():
    scores = torch.zeros(14, 2, 2)
    scores[:, :, 0], scores[-1, 0, 1] = 100.0, 101.0  # the last step alone prefers rank 1; L^13 is 1e-65
    assert choose(parse("geometric:0.00001"), torch.zeros(15, 2), scores).tolist() == [0] * 14 + [1]


@given(st.integers(1, 15), st.integers(1, 16), st.integers(0, 2**31))
def test_without_a_correction_every_walk_is_the_argmax_path(b, k, seed):
    logits = torch.randn(b, k, generator=torch.Generator().manual_seed(seed)).sort(-1, descending=True).values
    scores = logits[1:, None, :].expand(b - 1, k, k)  # S_p(a, b) = l_{p+1}(b)
    for name in ("greedy", "global-sum", "geometric:0.75", "beam:4", "beam:2+top:3"):
        assert choose(parse(name), logits, scores).tolist() == [0] * b


@given(
    st.lists(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), min_size=1, max_size=3),
    st.floats(0.001, 1.0).map(lambda p: round(p, 3)).filter(bool),
)
def test_a_cut_block_ends_before_its_probability_falls_below(blocks, cut):
    b = min(map(len, blocks))
    logprobs = torch.tensor([block[:b] for block in blocks], dtype=torch.float64).log()
    for block, n in zip(blocks, lengths(parse(f"greedy+cut:{cut}"), logprobs).tolist(), strict=True):
        # every length is judged by the product over it; a product at the very edge may go either way
        assert 1 <= n <= b
        assert n == 1 or math.prod(block[:n]) >= cut * (1 - 1e-9)
        assert n == b or math.prod(block[: n + 1]) < cut * (1 + 1e-9)
    assert lengths(parse("greedy"), logprobs).tolist() == [b] * len(blocks)


def test_a_cut_by_hand():
    logprobs = torch.tensor([[0.5, 0.5, 0.5, 0.9], [0.1, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]).log()
    ends = lengths(parse("beam:2+cut:0.2"), logprobs)
    assert ends.dtype == torch.int64 and ends.tolist() == [2, 1, 4]


@pytest.mark.parametrize(
    ("name", "expected", "canonical"),
    [
        ("greedy", Walk("greedy"), "greedy"),
        ("global-sum", Walk("global-sum"), "global-sum"),
        ("geometric:0.750", Walk("geometric", 0.75), "geometric:0.75"),
        ("geometric:1", Walk("geometric", 1.0), "geometric:1"),
        ("beam:4", Walk("beam", 0.75, 4), "beam:4"),
        ("greedy+cut:.3", Walk("greedy", cut=0.3), "greedy+cut:0.3"),
        ("beam:2+k:8+top:4", Walk("beam", 0.75, 2, top=4, k=8), "beam:2+top:4+k:8"),
        ("greedy+auto", Walk("greedy", auto=True), "greedy+auto"),
        ("beam:2+auto+cut:0.2", Walk("beam", 0.75, 2, cut=0.2, auto=True), "beam:2+cut:0.2+auto"),
        ("global-sum+k:3+cut:0.000001+top:2", Walk("global-sum", 1.0, None, 2, 0.000001, 3), None),
    ],
)
def test_names(name, expected, canonical):
    parsed = parse(name)
    assert parsed == expected and parse(str(parsed)) == parsed and walk.check(name) == parsed.name
    assert canonical is None or str(parsed) == canonical


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("viterbi", "its rule is one of greedy, global-sum, geometric:L, beam:W"),
        ("", "its rule is one of"),
        ("Greedy", "its rule is one of"),
        ("greedy:2", "its rule is one of"),
        ("global-sum:", "its rule is one of"),
        ("geometric", "L is a number above 0 and up to 1"),
        ("geometric:0", "L is a number above 0 and up to 1"),
        ("geometric:1.5", "not '1.5'"),
        ("geometric:nan", "not 'nan'"),
        ("geometric:1e-3", "not '1e-3'"),
        ("geometric:0,75", "as 0.75, not '0,75'"),
        ("beam", "W is a whole number from 1 to 256"),
        ("beam:0", "W is a whole number"),
        ("beam:2.0", "W is a whole number"),
        ("beam:-1", "W is a whole number"),
        ("beam:257", "W is a whole number"),
        ("beam:٣", "W is a whole number"),
        ("greedy+", r"behind its rule may stand \+top:M, \+cut:P, \+k:N, \+auto"),
        ("greedy+auto+auto", "auto stands in it twice"),
        ("greedy+auto:3", "behind its rule may stand"),
        ("greedy+bottom:1", "behind its rule may stand"),
        ("greedy+top", "M is a whole number"),
        ("greedy+cut:0", "P is a number above 0"),
        ("greedy+k:0", "N is a whole number"),
        ("greedy+k:2+k:3", "k stands in it twice"),
        ("beam:2 + top:4", "W is a whole number"),
    ],
)
def test_an_unknown_walk_is_named_with_what_is_wrong(name, words):
    with pytest.raises(ValueError, match=words) as error:
        parse(name)
    assert str(error.value).startswith(f"unknown walk {name!r}: ") and "\n" not in str(error.value)
    with pytest.raises(ValueError, match="unknown walk"):
        walk.check(name)
