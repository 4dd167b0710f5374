import torch
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lattice.accept import accepted_length

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=8)


def by_hand(pairs: list[tuple[int, int]]) -> int:
    for length, (drafted, wanted) in enumerate(pairs):
        if drafted != wanted:
            return length
    return len(pairs)


@given(PAIRS)
def test_one_block_against_a_loop(pairs):
    drafted, verifier = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    assert accepted_length(drafted, verifier).item() == by_hand(pairs)


@given(
    st.integers(0, 6).flatmap(lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1))
)
def test_a_batch_of_blocks_against_a_loop(agree):
    verifier = torch.zeros(len(agree), len(agree[0]), dtype=torch.int64)
    drafted = (~torch.tensor(agree, dtype=torch.bool).reshape(verifier.shape)).long()
    assert accepted_length(drafted, verifier).tolist() == [by_hand([(a, True) for a in row]) for row in agree]


def test_agreement_after_a_rejection_counts_for_nothing():
    assert accepted_length(torch.tensor([7, 1, 9, 9]), torch.tensor([7, 8, 9, 9])).item() == 1
