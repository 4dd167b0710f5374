from dcoco_viz.figures.lab import by_slots


def test_both_panels_show_the_numbers_and_mark_the_fastest():
    panels = by_slots([1, 2, 3], [1.5, 1.75, 1.875], [10.0, 12.25, None], "dcoco", 2)
    assert list(panels) == ["τ", "tok/s (estimate)"]
    wanted = (([1.5, 1.75, 1.875], "1.750"), ([10.0, 12.25, None], "12.2"))
    for panel, (y, words) in zip(panels.values(), wanted, strict=True):
        curve, mark = panel["data"]
        assert list(curve["x"]) == [1, 2, 3] and list(curve["y"]) == y
        assert curve["line"]["color"] == "var(--method-dcoco)"
        assert list(mark["x"]) == [2] and list(mark["y"]) == [y[1]] and mark["text"] == [f"2 slots: {words}"]
    assert [shown for shown, _ in panels["τ"]["data"][0]["customdata"]] == ["1.500", "1.750", "1.875"]
    assert [shown for shown, _ in panels["tok/s (estimate)"]["data"][0]["customdata"]] == ["10.0", "12.2", "–"]


def test_without_a_measured_cost_there_is_no_panel_of_speed():
    panels = by_slots([1, 2], [1.5, 1.75], [None, None], "dcoco", None)
    assert list(panels) == ["τ"] and len(panels["τ"]["data"]) == 1
