"""The example prompts."""

import json

from dcoco_viz.presets import DEFAULT, load
from dcoco_viz.prompts import examples


def test_every_example_has_a_button_of_its_own_and_a_text():
    found = examples()
    assert found and all(e.group and e.label and e.text.strip() for e in found)
    assert len({(e.group, e.label) for e in found}) == len({e.text for e in found}) == len(found)


def test_sources_are_those_of_the_default_checkpoints():
    for folder in load(DEFAULT).drafters.values():
        card = json.load(open(f"{folder}/card.json", encoding="utf-8"))
        assert {e.source for e in examples() if e.source} <= card["held_out_tau"]["by_source"].keys()
