"""Help in place: the views, the keys, how to read the pictures, and what every number means."""

from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

VIEWS = {
    "Explore": "One prompt, decoded live, or a recorded run. The text with the origin of every token; below it the "
    "cycle that is selected: its candidates, the path through them, its transition scores, its times.",
    "Compare": "The same prompt through several methods, walks or slot counts, one after another, then side by side.",
    "Coverage": "How often the right token was among the candidates, slot by slot, and how far each path was right.",
    "Path lab": "Other walks over recorded transition scores: what they would have chosen, and what that had bought.",
    "Runs": "Every run of this browser on this server, and traces that were opened: find, name, open, save.",
}
KEYS = (
    (("←", "→"), "previous, next cycle; in the grid, another slot"),
    (("Home", "End"), "first, last cycle"),
    (("Space",), "play and pause"),
    (("[", "]"), "previous, next slot pair of the heatmap"),
    (("b",), "on a candidate of the grid: branch off there"),
    (("c",), "compare the runs that are shown"),
    (("?",), "this help"),
)
READ = {
    "The cycle": "The drafter reads the last committed token (the anchor) and guesses a block of slots behind it, all "
    "at once. The head scores them given what stands before: a corrector every pair of neighbouring candidates, Domino "
    "and DSpark slot by slot. The walk picks one candidate a slot, the verifier reads the block in one forward and "
    "takes it up to the first token it would not have written itself.",
    "The grid": "Columns are slots, rows are the drafter's candidates, the likeliest on top; a cell's colour is its "
    "draft probability. The outlined cells, joined by a line, are the chosen path; a dashed line is the drafter's own "
    "argmax path where it differs. A ring marks the verifier's token, a name under a column the one that no "
    "candidate holds. The heavy rule is the acceptance point: slots behind it are dimmed and hatched, since they "
    "were not considered.",
    "The heatmap": "One pair of neighbouring slots: rows are the candidates of the left slot, columns those of the "
    "right one. S is what the walk compares along a row, base is the draft logit alone, Δ is what the head adds. The "
    "walked row and the step that was taken are marked. Domino and DSpark score only the successors of what they have "
    "chosen: one row. Where the first slot is scored too, its row follows the anchor.",
}


class Help(View):
    """A dialog; `window.dcoco.help()` opens it, and closes it when it is open."""

    def __init__(self, **kwargs: Any):
        glossary = {name: definition._asdict() for name, definition in DEFINITIONS.items()}
        super().__init__(views=VIEWS, keys=KEYS, read=READ, glossary=glossary, **kwargs)
