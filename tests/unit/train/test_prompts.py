"""Prompts out of files of every shape; what cannot be used is named."""

import json

import pandas as pd
import pytest

from dcoco_viz.train.data import DataError
from dcoco_viz.train.prompts import Prompt, read


def lines(tmp_path, *rows):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return str(path)


def found(place, column="prompt", source=""):
    said = []
    return list(read(place, column, source, "train", said.append)), said


def test_json_lines_with_strings_turns_and_messages(tmp_path):
    path = lines(
        tmp_path,
        {"prompt": "  one \n"},
        {"prompt": ["two", "a second turn"], "source": "chat"},
        {"prompt": [{"role": "system", "content": "x"}, {"role": "user", "content": "three"}]},
        {"prompt": {"role": "user", "content": "four"}},
    )
    assert [tuple(row) for row in found(path)[0]] == [
        ("mine", "one"),
        ("chat", "two"),
        ("mine", "three"),
        ("mine", "four"),
    ]
    assert found(path, source="s")[0][0] == Prompt("s", "one")


def test_parquet(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"turns": [["a", "b"], ["c"]]}).to_parquet(path)
    assert [p.text for p in found(str(path), "turns")[0]] == ["a", "c"]


def test_bad_rows_are_named_and_left_out(tmp_path):
    half = '{"prompt": "\\ud83d"}'
    path = lines(tmp_path, {"prompt": "good"}, "{broken", {"other": 1}, {"prompt": ""}, {"prompt": 7}, "[]", half)
    rows, said = found(path)
    assert [row.text for row in rows] == ["good"]
    assert [line.split(" of ")[0] for line in said] == [f"row {n}" for n in (2, 3, 4, 5, 6, 7)]


def test_a_file_without_any_says_which_fields_it_has(tmp_path):
    with pytest.raises(DataError, match=r"row 1 has no text in 'prompt' \(it has question, answer\).*--column"):
        found(lines(tmp_path, {"question": "q", "answer": "a"}))
    with pytest.raises(DataError, match="holds no prompt: it is empty"):
        found(lines(tmp_path))


def test_files_that_are_none(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="not a readable Parquet"):
        found(str(tmp_path / "x.parquet"))
    for place in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataError, match=r"no \.jsonl or \.parquet file here"):
            found(str(place))
