"""`python -m dcoco_viz`. A sub-command imports what it needs when it is called, so that --help is instant."""

import sys
from typing import Annotated

import typer

from dcoco_viz.calibrate import calibrate
from dcoco_viz.findings.cli import findings
from dcoco_viz.generate import generate
from dcoco_viz.importers.cli import import_drafter
from dcoco_viz.presets import DEFAULT, PresetError
from dcoco_viz.verifier import VerifierError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(generate)
app.command()(findings)
app.command()(calibrate)
app.command("import")(import_drafter)


@app.callback()
def _root() -> None:
    """Live speculative decoding with DFlash and DCOCO, on the command line."""


@app.command()
def doctor(
    preset: Annotated[str, typer.Option(help="the preset to check this machine for")] = DEFAULT,
    parity: Annotated[
        bool, typer.Option("--parity", help="start the engine too, and draft a few cycles again without it")
    ] = False,
) -> None:
    """Say what this machine has, and what stands in the way of a preset. Exit code 1 when something does."""
    from dcoco_viz import doctor, presets

    problems = doctor.report(presets.load(preset))
    if parity and not problems:
        from dcoco_viz import parity as check

        problems = check.report(presets.load(preset))
    for sentence in problems:
        print(sentence, file=sys.stderr)
    raise typer.Exit(1 if problems else 0)


@app.command()
def prepare() -> None:
    """Unpack the embedded verifier into the cache directory, unless it is there already."""
    from dcoco_viz import verifier

    verifier.prepare(lambda line: print(line, file=sys.stderr, flush=True))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def train(context: typer.Context) -> None:
    """Train a drafter; see `train --help`."""
    from dcoco_viz.train.cli import app as training

    training(args=context.args, prog_name=f"{context.parent.info_name} train")


def main() -> None:
    """Run the command line. What a user can put right is one sentence on standard error, and exit code 1."""
    try:
        app(prog_name="python -m dcoco_viz")
    except (PresetError, VerifierError) as error:
        sys.exit(str(error))
