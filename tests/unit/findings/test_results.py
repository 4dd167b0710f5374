"""What is not a results file is refused with one sentence."""

import json

import pytest

from dcoco_viz.findings.results import ResultsError, load
from tests.unit.findings.made import gap, results, way, write


def test_files_are_read_by_name_and_may_be_missing(tmp_path):
    write(tmp_path, results("walks", {"greedy": way(2.0)}), {"name": "other"})
    loaded = load(tmp_path)
    assert list(loaded.results) == ["walks"] and loaded.unread == ["other.json"]
    assert loaded.results["walks"].figures["greedy"].prefix.oracle == 1.5


def broken(change) -> dict:
    file = results("equal", {"dcoco": way(2.2), "dflash": way(2.0)}, {"dcoco - dflash": gap(0.2, 0.1, 0.3)})
    change(file)
    return file


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f["figures"]["dcoco"].pop("prefix"), "figures.dcoco.prefix: Field required."),
        (lambda f: f.update(temperature=1), "temperature: "),
        (lambda f: f.update(figures={}), "figures: "),
        (lambda f: f["figures"]["dcoco"]["pooled"].update(tau=float("nan")), "figures.dcoco.pooled.tau: "),
        (lambda f: f["figures"]["dcoco"]["pooled"].update(interval=[3, 2]), "the interval ends before it begins."),
        (lambda f: f["figures"]["dcoco"]["prefix"].update(top1=9), "cannot come further than the best path"),
        (lambda f: f["figures"]["dcoco"]["coverage_by_slot"].update({"2": [0.1]}), "not as many for every k."),
        (lambda f: f["difference"].update({"dcoco - domino": gap(0, 0, 0)}), "is not between two of the ways"),
        (lambda f: f["difference"].update({"dcoco - dflash": gap(0.3, 0, 1)}), "is not that of the two values of tau."),
    ],
)
def test_a_file_that_cannot_be_right_says_why(tmp_path, change, words):
    write(tmp_path, broken(change))
    with pytest.raises(ResultsError) as error:
        load(tmp_path)
    text = str(error.value)
    assert text.startswith(f"{tmp_path / 'equal.json'} is not a results file: ") and words in text and "\n" not in text


def test_a_file_named_for_another_question_is_refused(tmp_path):
    (tmp_path / "equal.json").write_text(json.dumps(results("walks", {"greedy": way(2.0)})))
    with pytest.raises(ResultsError, match="it says that it is 'walks'"):
        load(tmp_path)


def test_ways_of_the_seeds_carry_their_seed(tmp_path):
    write(tmp_path, results("seeds", {"dcoco": way(2.0)}))
    with pytest.raises(ResultsError, match="written METHOD@SEED, not 'dcoco'"):
        load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_what_is_no_json_object_is_refused(tmp_path, content):
    (tmp_path / "frozen.json").write_bytes(content)
    with pytest.raises(ResultsError, match="frozen.json is not a results file: "):
        load(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ResultsError, match="^There is no folder .*nowhere.$"):
        load(tmp_path / "nowhere")
