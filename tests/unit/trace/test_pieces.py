import json

from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.trace.pieces import from_bytes, join, to_bytes


@given(st.binary())
def test_a_piece_is_its_bytes_also_through_json(raw):
    piece = json.loads(json.dumps(from_bytes(raw)))
    assert to_bytes(piece) == raw


@given(st.text(), st.lists(st.integers(0, 40)))
def test_text_cut_anywhere_joins_to_itself(text, cuts):
    raw, marks = text.encode(), sorted({0, *cuts})
    parts = [raw[a:b] for a, b in zip(marks, [*marks[1:], None], strict=True)]
    assert join(map(from_bytes, parts)) == text


def test_half_a_character_reads_as_a_replacement():
    assert from_bytes(b"ok\xe2") == "ok\udce2"
    assert join([from_bytes(b"ok\xe2")]) == "ok\ufffd"
    assert join([from_bytes(b"\xe2\x82"), from_bytes(b"\xac")]) == "€"
