"""Reading the data file, the held-out split, and loops."""

import pandas as pd
import pytest

from dcoco_viz.train import data

ROW = {"source": "s", "prompt": "p", "prompt_ids": [1, 2], "response_ids": [3, 4]}


def _file(tmp_path, rows, drop=()):
    path = tmp_path / "data.parquet"
    pd.DataFrame(rows).drop(columns=list(drop)).to_parquet(path)
    return path


def test_reads_rows(tmp_path):
    assert data.read(_file(tmp_path, [ROW]), 10) == [data.Example("s", "p", [1, 2], [3, 4])]


@pytest.mark.parametrize(
    ("rows", "drop", "words"),
    [
        ([ROW], ["prompt_ids", "source"], r"lacks the column\(s\) source, prompt_ids"),
        ([ROW | {"response_ids": [3, 10]}], [], r"row 0 .* outside 0\.\.9"),
        ([ROW, ROW | {"response_ids": []}], [], "row 1 .* must not be empty"),
        ([ROW | {"prompt_ids": ["a", "b"]}], [], "row 0 .* must be lists of token ids"),
    ],
)
def test_unusable_files_say_why(tmp_path, rows, drop, words):
    with pytest.raises(data.DataError, match=words):
        data.read(_file(tmp_path, rows, drop), 10)


def test_missing_corrupt_and_empty_files(tmp_path):
    with pytest.raises(data.DataError, match="does not exist"):
        data.read(tmp_path / "none.parquet", 10)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 nonsense")
    with pytest.raises(data.DataError, match="not a readable Parquet"):
        data.read(broken, 10)
    with pytest.raises(data.DataError, match="no rows"):
        data.read(_file(tmp_path, pd.DataFrame(columns=list(ROW))), 10)


def test_held_out_prompts_never_change():
    """A changed hash would leak held-out prompts into training: this list was computed once."""
    chosen = [n for n in range(100) if data.held_out(f"prompt {n}")]
    assert chosen == [0, 3, 15, 24, 42, 53, 72, 83, 89, 96]
    share = sum(data.held_out(str(n)) for n in range(20_000)) / 20_000
    assert 0.045 < share < 0.055


def test_split_is_disjoint_complete_and_interleaves_sources():
    rows = [data.Example("ab"[n % 2], f"prompt {n}", [1], [2]) for n in range(200)]
    training, held_out = data.split(rows)
    assert sorted(training + held_out) == sorted(rows)
    assert {data.held_out(e.prompt) for e in training} == {False}
    assert {data.held_out(e.prompt) for e in held_out} == {True}
    assert [e.source for e in training[:6]] == ["a", "b"] * 3
    assert data.split(rows[::-1]) == (training, held_out)


def test_loop_tokens_are_those_in_a_repeated_ngram():
    assert data.repeats([1, 2, 3, 9, 1, 2, 3, 8], n=3) == [False] * 4 + [True] * 3 + [False]
    assert not any(data.repeats([1, 2, 3, 1, 2], n=3))


def test_a_response_is_cut_a_little_past_the_onset_of_its_loop():
    start, loop = list(range(100, 110)), list(range(16))
    assert data.cut_loop(start + loop * 3) == start + loop + loop[: data.LOOP_TAIL]
    assert data.cut_loop(start) == start
