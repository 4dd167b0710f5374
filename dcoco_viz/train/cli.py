"""`python -m dcoco_viz train`: train the checkpoints of one verifier, or measure some."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(help="Train a drafter and its corrector, or measure them on held-out prompts.", no_args_is_help=True)
console = Console(stderr=True, highlight=False, soft_wrap=True)
Data = Annotated[Path, typer.Option(help="Parquet with columns source, prompt, prompt_ids, response_ids.")]
RecipeName = Annotated[str, typer.Option(help="A shipped recipe's name, or the path of a .toml file.")]


def _say(text: str) -> None:
    console.print(f"{time.strftime('%H:%M:%S')} {text}", markup=False)


@app.command()
def run(
    data: Data,
    recipe: RecipeName = "smollm2-cpu",
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the state to resume from.")] = Path(
        "runs/latest"
    ),
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out.")] = False,
) -> None:
    """Stage 1: DFlash. Stage 2, as many steps each: DFlash alone; drafter + corrector jointly."""
    from dcoco_viz.methods.dflash.start import from_verifier
    from dcoco_viz.train import card, hardware, trainer

    if not resume and any(out.glob("*.pt")):
        _fail(f"{out} holds a run already: add --resume to go on with it, or choose another --out")
    inputs = _inputs(recipe, data)
    r = inputs.recipe
    with _plain_errors():
        store, held_out = inputs.stores
        shown = int(held_out.offsets[min(r.eval_prompts, len(held_out.examples))])
        few = inputs.extract(held_out, shown)
        count = inputs.extract(store, r.feature_tokens)
        if count < 1:
            _fail(f"feature_tokens = {r.feature_tokens} does not reach the end of the first example")
        drafter = from_verifier(inputs.model, r.draft_layers, r.target_layer_ids, r.mask_token_id)
        short = [_first_tokens(held_out[i], r.eval_tokens) for i in range(few)]
        amp = hardware.fast_dtype()
        work = trainer.Trainer(
            r,
            out,
            drafter,
            store,
            count,
            short,
            inputs.vocab,
            inputs.head,
            hardware.workers(inputs.head.device),
            amp,
            _say,
        )
        try:
            work.run()
        except trainer.Interrupted as stopped:
            _say(str(stopped))
            raise typer.Exit(143) from None
        card.write(inputs, out, count, _say)


@app.command("eval")
def evaluate(
    checkpoints: Annotated[list[Path], typer.Argument(help="Checkpoint folders.")],
    data: Data,
    recipe: RecipeName = "smollm2-cpu",
    prompts: Annotated[int | None, typer.Option(help="Held-out prompts to use; all when not given.")] = None,
) -> None:
    """Held-out tau, coverage and prefixes of checkpoints, as JSON on standard output."""
    from dcoco_viz.train import card

    inputs = _inputs(recipe, data)
    with _plain_errors():
        measured = card.measure(inputs, checkpoints, prompts, _say)
    print(json.dumps(measured.figures, indent=1))


def _first_tokens(sequence, tokens: int):
    end = sequence.prompt + tokens
    rows = ("ids", "hidden", "top_ids", "top_logp")
    return sequence._replace(**{name: getattr(sequence, name)[:end] for name in rows})


def _inputs(recipe: str, path: Path):
    from dcoco_viz.train.inputs import Inputs
    from dcoco_viz.train.recipe import load

    with _plain_errors():
        return Inputs(load(recipe), path, _say)


class _plain_errors:
    """Turn what a user can put right into one sentence and exit code 1."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        from dcoco_viz.methods.checkpoint import CheckpointError
        from dcoco_viz.train.data import DataError
        from dcoco_viz.train.recipe import RecipeError
        from dcoco_viz.verifier import VerifierError

        if isinstance(error, (CheckpointError, DataError, RecipeError, VerifierError, OSError)):
            _fail(str(error))


def _fail(text: str):
    console.print(text, markup=False)
    raise typer.Exit(1)
