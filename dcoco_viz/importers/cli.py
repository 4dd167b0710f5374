"""`python -m dcoco_viz import`: a drafter of other people, in this program's layout."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def import_drafter(
    source: Annotated[str, typer.Argument(help="a drafter's folder or hub id: z-lab's, SpecForge's or speculators'")],
    out: Annotated[Path, typer.Option(help="the folder to write; it must not exist")],
    verifier: Annotated[
        str, typer.Option(help="'embedded' or a verifier's folder, to check against; else only the drafter is checked")
    ] = "",
) -> None:
    """Bring a DFlash drafter into this program's layout. What does not fit is named, and nothing is written then."""
    from dcoco_viz.importers import Refused, convert

    try:
        done = convert.run(source, out, verifier, lambda line: print(line, file=sys.stderr, flush=True))
    except Refused as refused:
        for sentence in refused.sentences:
            print(sentence, file=sys.stderr)
        raise typer.Exit(1) from None
    for note in done.notes:
        print(note)
    what = f"drafter and {done.head} head" if done.head else "drafter"
    print(f"Wrote {what} from {done.layout}'s layout to {done.folder}.")
