"""What other walks would have done with the blocks that a run recorded. No engine, no page."""
