"""What is to be compared: two to four ways to decode, how often, and against what."""

from typing import Any, NamedTuple

import gradio as gr

from dcoco_viz.methods import METHODS
from dcoco_viz.tabs.ask import GRAMMAR, WALKS

MOST = 4  # entries, the baseline not counted
MOST_REPEATS = 10
START = (("dcoco", "greedy", 15), ("dflash", "greedy", 15))


class Setup(NamedTuple):
    """The parts that events read or write."""

    rows: list[gr.Row]
    methods: list[gr.Dropdown]
    walks: list[gr.Dropdown]
    slots: list[gr.Number]
    removes: list[gr.Button]
    count: gr.State  # rows in use
    add: gr.Button
    repeat: gr.Number
    baseline: gr.Checkbox
    start: gr.Button
    stop: gr.Button

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What `ways` reads: all methods, all walks, all slots."""
        return [*self.methods, *self.walks, *self.slots]

    @property
    def outputs(self) -> list[gr.components.Component]:
        """What `arranged` changes."""
        return [self.count, *self.rows, *self.inputs, *self.removes, self.add]


def build(*, live: bool) -> Setup:
    """Lay it out, inside its panel; without an engine it is not seen."""
    rows, methods, walks, slots, removes = [], [], [], [], []
    with gr.Column(visible=live, elem_id="dv-compare-setup"):
        with gr.Column(elem_id="dv-entries"):
            for i in range(MOST):
                method, walk, n = START[min(i, len(START) - 1)]
                with gr.Row(visible=i < len(START), elem_classes=["dv-entry"]) as row:
                    methods.append(
                        gr.Dropdown(choices(list(METHODS)), value=method, label=f"Method {i + 1}", min_width=130)
                    )
                    walks.append(
                        gr.Dropdown(
                            list(WALKS), value=walk, label=f"Walk {i + 1}", allow_custom_value=True, min_width=130
                        )
                    )
                    slots.append(gr.Number(n, label=f"Slots {i + 1} (1 to 15)", precision=0, min_width=120))
                    removes.append(gr.Button(f"Remove {i + 1}", size="sm", scale=0, min_width=90, interactive=False))
                rows.append(row)
        gr.HTML(GRAMMAR, elem_classes=["dv-grammar"], apply_default_css=False)
        with gr.Row(elem_id="dv-compare-actions"):
            add = gr.Button("Add an entry", size="sm", scale=0, min_width=130)
            repeat = gr.Number(1, label=f"Repeat (1 to {MOST_REPEATS})", precision=0, min_width=170, scale=0)
            baseline = gr.Checkbox(
                True, label="with plain decoding as the baseline", container=False, min_width=270, scale=0
            )
            start = gr.Button(
                "Loading …", variant="primary", interactive=False, min_width=130, elem_id="dv-compare-start"
            )
            stop = gr.Button("Stop", interactive=False, min_width=90, elem_id="dv-compare-stop")
    return Setup(rows, methods, walks, slots, removes, gr.State(len(START)), add, repeat, baseline, start, stop)


def choices(methods: list[str]) -> list[tuple[str, str]]:
    """(label, name) of these methods, for a Dropdown."""
    return [(METHODS[name].label, name) for name in methods]


def wire(setup: Setup) -> None:
    """Connect what adds and takes away entries."""
    inputs = [setup.count, *setup.inputs]
    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    setup.add.click(
        lambda count, *values: arranged(setup, [*rows_of(count, values), START[0]]), inputs, setup.outputs, **quiet
    )
    for i, button in enumerate(setup.removes):

        def remove(count, *values, i=i):
            rows = rows_of(count, values)
            return arranged(setup, rows[:i] + rows[i + 1 :])

        button.click(remove, inputs, setup.outputs, **quiet)


def rows_of(count: int, values: tuple) -> list[tuple[str, str, int]]:
    """(method, walk, slots) of the rows in use, from the values of `Setup.inputs`."""
    return list(zip(*(values[part * MOST : part * MOST + count] for part in range(3)), strict=True))


def arranged(setup: Setup, rows: list[tuple[str, str, int]]) -> dict[Any, Any]:
    """Updates that show these rows, two to MOST."""
    updates = {setup.count: len(rows), setup.add: gr.Button(interactive=len(rows) < MOST)}
    for i in range(MOST):
        updates[setup.rows[i]] = gr.Row(visible=i < len(rows))
        updates[setup.removes[i]] = gr.Button(interactive=len(rows) > 2)
        if i < len(rows):
            updates |= dict(zip((setup.methods[i], setup.walks[i], setup.slots[i]), rows[i], strict=True))
    return updates


def ways(rows: list[tuple[str, str, int]], *, baseline: bool) -> list[dict[str, Any]]:
    """Method, walk and slots of every entry, plain decoding behind them where it is asked for and not there yet.

    Raises:
        ValueError: one plain sentence about the first entry that cannot be.
    """
    from dcoco_viz.lattice.walk import check  # brings torch, which a replay does without

    found: list[dict[str, Any]] = []
    for number, (method, walk, slots) in enumerate(rows, 1):
        try:
            name = check(str(walk or "").strip())
        except ValueError as error:
            raise ValueError(f"Entry {number}: {error}.") from error
        way = {"method": "none"} if method == "none" else {"method": method, "walk": name, "slots": slots}
        if way in found:
            raise ValueError(f"Entries {found.index(way) + 1} and {number} are the same: change one of them.")
        found.append(way)
    if baseline and {"method": "none"} not in found:
        found.append({"method": "none"})
    return found
