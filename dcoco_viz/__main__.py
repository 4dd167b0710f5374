"""`python -m dcoco_viz`."""

from dcoco_viz.cli import main

main()
