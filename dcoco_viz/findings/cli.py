"""`python -m dcoco_viz findings`: write docs/findings.md, or say whether it is up to date."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcoco_viz.presets import ROOT

RESULTS, OUT = ROOT / "assets" / "results", ROOT / "docs" / "findings.md"


def findings(
    results: Annotated[Path, typer.Option(help="folder of the results files", show_default="assets/results")] = RESULTS,
    out: Annotated[Path, typer.Option(help="the page to write", show_default="docs/findings.md")] = OUT,
    check: Annotated[bool, typer.Option("--check", help="write nothing; exit code 1 when the page differs")] = False,
) -> None:
    """Write docs/findings.md: what was measured, beside the paper's numbers, and whether they agree."""
    from dcoco_viz.findings.page import page
    from dcoco_viz.findings.results import ResultsError, load

    try:
        text = page(load(results)).encode()
        if not check:
            out.write_bytes(text)
        elif not out.is_file() or out.read_bytes() != text:
            raise ResultsError(f"{out} is not what the results give: write it with python -m dcoco_viz findings.")
    except ResultsError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{out} cannot be used: {error.strerror}.")
