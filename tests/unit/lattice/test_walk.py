import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lattice import walk

# few distinct values, so that ties are common
NUMBERS = st.integers(-2, 2).map(float)


def by_hand(first: list[float], scores: list[list[list[float]]]) -> list[int]:
    """The walk as METHOD words it; list.index takes the first of equals."""
    path = [first.index(max(first))]
    for transition in scores:
        row = transition[path[-1]]
        path.append(row.index(max(row)))
    return path


@st.composite
def lattices(draw):
    """first [R, K] and scores [R, B-1, K, K] as nested lists."""
    r, b, k = draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    square = st.lists(st.lists(NUMBERS, min_size=k, max_size=k), min_size=k, max_size=k)
    first = [draw(st.lists(NUMBERS, min_size=k, max_size=k)) for _ in range(r)]
    return first, [draw(st.lists(square, min_size=b - 1, max_size=b - 1)) for _ in range(r)], k


@given(lattices())
def test_greedy_equals_the_walk_by_hand(lattice):
    first, scores, k = lattice
    tensor = torch.tensor(scores).reshape(len(first), -1, k, k)
    ranks = walk.greedy(torch.tensor(first), tensor)
    assert ranks.dtype == torch.int64
    assert ranks.tolist() == [by_hand(f, s) for f, s in zip(first, scores, strict=True)]
    # and the same without the batch dimension
    assert walk.greedy(torch.tensor(first[0]), tensor[0]).tolist() == ranks[0].tolist()


def test_greedy_does_not_look_ahead():
    first = torch.tensor([1.0, 0.9])
    # rank 1 leads to a total of 10.9, yet the walk starts at rank 0 and stays with it
    scores = torch.tensor([[[0.2, 0.1], [10.0, 0.0]]])
    assert walk.greedy(first, scores).tolist() == [0, 0]


@given(st.integers(1, 15), st.integers(1, 16), st.integers(0, 2**31))
def test_without_a_correction_the_walk_is_the_argmax_path(b, k, seed):
    logits = torch.randn(b, k, generator=torch.Generator().manual_seed(seed)).sort(-1, descending=True).values
    scores = logits[1:, None, :].expand(b - 1, k, k)  # S_p(a, b) = l_{p+1}(b)
    assert walk.greedy(logits[0], scores).tolist() == [0] * b


def test_an_unknown_walk_is_named_with_those_there_are():
    assert walk.check("greedy") == "greedy"
    with pytest.raises(ValueError, match="unknown walk 'viterbi': choose one of greedy"):
        walk.check("viterbi")
