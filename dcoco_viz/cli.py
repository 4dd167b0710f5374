"""`python -m dcoco_viz`: every sub-command imports what it needs when it is called, so that --help is instant."""

import sys

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


@app.callback()
def _root() -> None:
    """Live speculative decoding, on the command line."""


@app.command()
def prepare() -> None:
    """Unpack the embedded verifier into the cache directory, or check that it is there."""
    from dcoco_viz import verifier

    verifier.prepare(lambda line: print(line, file=sys.stderr, flush=True))


def main() -> None:
    app()
