"""What stands in a report, read from the file itself; tests/ui/test_report.py opens it in a browser."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from dcoco_viz.components.feed import Sender
from dcoco_viz.components.wire import Encoder
from dcoco_viz.metrics.summary import summary
from dcoco_viz.report import content, document
from tests.unit.factory import make_run

DATA = re.compile(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', re.DOTALL)
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def made(path, runs, **kwargs):
    document.save(path, runs, **kwargs)
    text = path.read_text(encoding="utf-8")
    return text, {name: json.loads(data) for name, data in DATA.findall(text)}


@pytest.fixture
def runs():
    return [make_run(slots=15, pool=16, cycles=12, seed=seed) for seed in range(4)]


def test_every_record_and_every_score_is_inside(runs, tmp_path):
    _, data = made(tmp_path / "r.html", runs)
    for lane, run in zip("abcd", runs, strict=True):
        assert data[f"records-{lane}"] == list(Encoder(run).take())
        for cycle, pairs in zip(run.cycles, data[f"scores-{lane}"], strict=True):
            got = [np.frombuffer(base64.b64decode(pair), "<f2").reshape(16, 16) for pair in pairs]
            assert np.array_equal(got, cycle.scores)
    assert [lane["value"] for lane in data["matter"]["lanes"]] == [Sender(run).value("done") for run in runs]


def test_only_the_scripts_of_the_report_may_run(runs, tmp_path):
    text, data = made(tmp_path / "r.html", runs[:2])
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)[1]
    hashes = re.findall(r"'sha256-(.*?)'", policy)
    found = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in SCRIPT.findall(text)]
    assert found == hashes and len(found) == len(data["matter"]["lanes"][0]["views"]) + 2
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe-eval" not in policy
    assert re.search(r"script-src ([^;]*);", policy)[1] == " ".join(f"'sha256-{h}'" for h in hashes)


def test_nothing_points_out_of_the_file(runs, tmp_path):
    text, _ = made(tmp_path / "r.html", runs[:1])
    assert not re.search(r"\b(src|href|srcset|action)\s*=\s*[\"']|url\(|@import|<link|<base", text)


def test_no_tag_begins_in_the_data(runs, tmp_path):
    run, bad = runs[0], "</script><!--<script>window.hacked=1</script>"
    run.pieces |= dict.fromkeys(run.pieces, bad)
    run.name, run.request.prompt, run.request.method, run.meta["hardware"] = bad, bad, bad, bad
    text, data = made(tmp_path / "r.html", [run])
    assert "<" not in "".join(raw for _, raw in DATA.findall(text)) and "hacked" not in "".join(SCRIPT.findall(text))
    assert data["matter"]["heads"][0]["title"] == bad
    assert bad in json.dumps(data["records-a"])


def test_the_numbers_are_those_of_the_summary(runs):
    rows = {row["name"]: row for row in content.numbers(runs[:3])}
    for i, run in enumerate(runs[:3]):
        known = summary(run)
        assert rows["tau"]["values"][i] == f"{known.tau:.2f}"
        assert rows["tokens_per_second"]["values"][i] == f"{known.tokens_per_second:.1f}"
        assert rows["head_ms"]["values"][i] == f"{known.head_ms:.2f}"
        assert rows["oracle"]["values"][i] == f"{known.oracle:.2f}"
        assert rows["cycles"]["values"][i] == "12"
    assert rows["tau"]["formula"] and "speedup" not in rows


def test_a_speedup_stands_there_beside_a_run_without_drafts(runs):
    plain, other = make_run(method="none", cycles=12, seed=9), make_run(method="none", cycles=12, seed=8)
    plain.prompt_ids = runs[0].prompt_ids
    assert "speedup" not in {row["name"] for row in content.numbers([runs[0]])}
    assert content.numbers([runs[0], other])[2]["values"] == [None, "1.00"]  # another question
    rows = {row["name"]: row for row in content.numbers([runs[0], plain])}
    ratio = summary(runs[0]).tokens_per_second / summary(plain).tokens_per_second
    assert rows["speedup"]["values"] == [f"{ratio:.2f}", "1.00"]
    assert rows["tau"]["values"][1] is None


def test_histograms_end_where_all_do(runs):
    found = content.histograms(runs[:2])
    assert len(found[0]) == len(found[1]) == max(c.accepted for run in runs[:2] for c in run.cycles) + 1
    for counts, run in zip(found, runs, strict=False):
        assert counts == [sum(c.accepted == n for c in run.cycles) for n in range(len(counts))]


def test_settings_name_the_machine_and_what_was_asked():
    run = make_run()
    run.meta |= {"git": "abc123", "hardware": "a machine", "vllm_accepted": [1, 2]}
    rows = {row["label"]: row["values"] for row in content.settings([run, make_run(method="none", seed=1)])}
    assert rows["Git revision"] == ["abc123", "–"] and rows["Hardware"] == ["a machine", "–"]
    assert rows["Versions"] == ["vllm 0", "vllm 0"] and rows["Slots"] == ["15", "–"]
    assert rows["Seed"] == ["0", "1"] and "Vllm accepted" not in rows and "Special ids" not in rows


def test_beyond_the_bound_scores_are_left_out_and_counted(runs, tmp_path):
    one = -(-runs[0].cycles[0].scores.nbytes * 4 // 3)
    assert content.room(runs[:2], 2 * (5 * one + 3)) == [5, 5]
    _, data = made(tmp_path / "r.html", runs[:1], limit=5 * one)
    assert len(data["scores-a"]) == 5 and data["matter"]["lanes"][0]["scored"] == 5
    assert [record["walked"] is None for record in data["records-a"]] == [False] * 5 + [True] * 7


def test_the_bound_holds(tmp_path):
    run = make_run(slots=15, pool=16, cycles=30)
    small, _ = made(tmp_path / "a.html", [run], limit=0)
    large, _ = made(tmp_path / "b.html", [run], limit=100_000)
    assert 0 < len(large) - len(small) < 110_000


@pytest.mark.parametrize("how", [{"method": "none"}, {"cycles": 0}, {"record": "light"}, {"head": False}])
def test_any_run_has_a_report(how, tmp_path):
    _, data = made(tmp_path / "r.html", [make_run(**how)])
    assert len(data["matter"]["heads"]) == 1
