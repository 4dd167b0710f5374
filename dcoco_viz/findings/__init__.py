"""docs/findings.md from the results files: what was measured, beside the paper's numbers, and whether they agree."""
