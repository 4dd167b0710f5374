"""The way from a candidate in a picture to the run that goes on from it."""

from dcoco_viz.components.view import View


class Branch(View):
    """Nothing to see. Its event `branch` {run, cycle, slot, rank} asks the server to decode on from a candidate.

    From any view, `window.dcoco.branch({run, cycle, slot, rank})` asks it: the cycle and the rank count from 0, the
    slot from 1, as in `trace.schema.Parent`.
    """
