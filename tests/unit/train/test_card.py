"""Model cards and results files, from the cards that are shipped."""

import json
from pathlib import Path

import pytest

from dcoco_viz.methods import checkpoint
from dcoco_viz.train import card

SHIPPED = Path(__file__).parents[3] / "assets" / "checkpoints" / "smollm2-135m"


@pytest.fixture
def facts():
    return json.loads((SHIPPED / "dcoco" / "card.json").read_text())


def test_a_head_of_fewer_candidates_has_a_card_too(facts):
    facts["coverage_by_slot"] = {k: v for k, v in facts["coverage_by_slot"].items() if int(k) <= 8}
    text = card.readme(facts)
    assert "top-8 coverage" in text and "8 x 15 candidate pool" in text and "16" not in text.split("| slot |")[1][:80]
    assert f"| 1 | {facts['coverage_by_slot']['1'][0]:.3f} | {facts['coverage_by_slot']['8'][0]:.3f} |" in text


def test_results_need_to_know_how_their_checkpoints_were_trained(tmp_path):
    (tmp_path / "card.json").write_text(json.dumps({"verifier": "imported"}))
    with pytest.raises(checkpoint.CheckpointError, match="nothing saved"):
        card.saved(None, "mine", {"difference": {}}, [tmp_path])
