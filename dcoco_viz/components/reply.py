"""The way from an answer to the next prompt of its chat."""

from dcoco_viz.components.view import View


class Reply(View):
    """A button that goes on from the answer that is looked at, once it is finished (components/turns.py).

    In Explore that is the lane moved last; the value is the id of the finished run that the other views are about.
    """
