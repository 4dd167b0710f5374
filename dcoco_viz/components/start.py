"""What stands in Explore before there is a run: how to get one, or how far the engine has come."""

from dcoco_viz.components.view import View


class Start(View):
    """Its value is the engine's status (banner.say); not seen once the lane has a run."""
