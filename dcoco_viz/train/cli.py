"""`python -m dcoco_viz train`: train the checkpoints of one verifier, or measure some."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(help="Train a drafter and its head, or measure them on held-out prompts.", no_args_is_help=True)
console = Console(stderr=True, highlight=False, soft_wrap=True)
TABLE = 120  # columns of a table that goes into a file
Data = Annotated[Path, typer.Option(help="Parquet with columns source, prompt, prompt_ids, response_ids.")]
RecipeName = Annotated[str, typer.Option(help="A shipped recipe's name, or the path of a .toml file.")]
Verifier = Annotated[str, typer.Option(help="Folder of another verifier than the recipe's.")]


def _say(text: str) -> None:
    console.print(f"{time.strftime('%H:%M:%S')} {text}", markup=False)


@app.command()
def regenerate(
    prompts: Annotated[
        str, typer.Argument(help="A .jsonl or .parquet file, or a hub dataset's id. Not needed with --self-instruct.")
    ] = "",
    out: Annotated[Path, typer.Option(help="The training file to write (Parquet).")] = Path("data.parquet"),
    verifier: Annotated[str, typer.Option(help="'embedded', or the folder of your own.")] = "embedded",
    column: Annotated[str, typer.Option(help="The field that holds a prompt, or the turns of a chat.")] = "prompt",
    source: Annotated[str, typer.Option(help="Name of the source in every figure; else the file's name.")] = "",
    split: Annotated[str, typer.Option(help="Of a hub dataset.")] = "train",
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many prompts.")] = None,
    self_instruct: Annotated[int, typer.Option(min=0, help="Prompts that the verifier writes itself, besides.")] = 0,
    max_tokens: Annotated[int, typer.Option(min=2, max=32768, help="Longest answer.")] = 512,
    max_length: Annotated[int, typer.Option(min=64, help="Longest prompt and answer together.")] = 2048,
    thinking: Annotated[str, typer.Option(help="on or off, where the chat template knows it.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of self-written prompts.")] = 0,
    at_once: Annotated[int, typer.Option(min=1, help="Prompts decoded side by side; fewer need less memory.")] = 64,
    kv_cache_gib: Annotated[float, typer.Option(min=0.1, help="GiB for their keys and values.")] = 2.0,
) -> None:
    """Write training data: the verifier's own greedy answers. Goes on where it stopped when called again."""
    from itertools import islice

    from dcoco_viz import hardware
    from dcoco_viz import verifier as verifiers
    from dcoco_viz.train import prompts as reading
    from dcoco_viz.train import regenerate as work

    if thinking not in ("", "on", "off"):
        _fail(f"--thinking is on or off, not {thinking!r}")
    if not prompts and not self_instruct:
        _fail("name a file of prompts, or let the verifier write some: --self-instruct 1000")
    if out.exists():
        _fail(f"{out} exists already: choose another --out")
    with _plain_errors():
        folder = verifiers.prepare(_say) if verifier == "embedded" else Path(verifier)
        asked = {"verifier": verifiers.fingerprint(folder), "max_tokens": max_tokens, "thinking": thinking or None}
        asked |= {"dtype": hardware.native_dtype()}
        rows = reading.read(prompts, column, source, split, _say) if prompts else iter(())
        wanted = list(islice(rows, limit))
        from transformers import AutoTokenizer

        template = work.Template(AutoTokenizer.from_pretrained(folder), {"": None}.get(thinking, thinking == "on"))
        out.parent.mkdir(parents=True, exist_ok=True)
        _say(f"loading the verifier; {len(wanted)} prompts")
        from dcoco_viz.engine.batch import Batch

        batch = Batch(
            str(folder), dtype=asked["dtype"], limit=max_length, at_once=at_once, kv_cache_gib=kv_cache_gib
        )
        try:
            told = work.regenerate(
                batch, template, wanted, out, asked=asked, write=self_instruct, max_tokens=max_tokens,
                limit=max_length, seed=seed, say=_say,
            )  # fmt: skip
        except KeyboardInterrupt:
            _say("stopped; the same command goes on from here")
            raise typer.Exit(130) from None
        finally:
            batch.close()
    _say(f"{out}: {', '.join(f'{count} {name}' for name, count in told.items())}")


@app.command()
def features(
    data: Data,
    recipe: RecipeName = "smollm2-cpu",
    verifier: Verifier = "",
) -> None:
    """Compute what the verifier saw of the data ahead of a run, which does it otherwise. Goes on where it stopped."""
    inputs = _inputs(recipe, data, verifier)
    with _plain_errors():
        store, held_out = inputs.stores
        inputs.extract(held_out)
        count = inputs.extract(store, inputs.recipe.feature_tokens)
        _say(f"{count} of {len(store.examples)} training sequences in {store.path}")


@app.command()
def run(
    data: Data,
    recipe: RecipeName = "smollm2-cpu",
    verifier: Verifier = "",
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the state to resume from.")] = Path(
        "runs/latest"
    ),
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out.")] = False,
    methods: Annotated[
        str, typer.Option(help="What to train behind the shared stage, with commas: dcoco, domino+frozen, ...")
    ] = "",
    seed: Annotated[int | None, typer.Option(help="In place of the recipe's.")] = None,
) -> None:
    """Stage 1: DFlash. Stage 2, as many steps each: every method from there, on the same batches.

    With several GPUs: accelerate launch -m dcoco_viz train run ...
    """
    from dcoco_viz.methods.dflash.start import from_verifier
    from dcoco_viz.train import branch, card, hardware, trainer

    if not resume and any(out.glob("*.pt")):
        _fail(f"{out} holds a run already: add --resume to go on with it, or choose another --out")
    inputs = _inputs(recipe, data, verifier, seed)
    with _plain_errors():
        r = inputs.recipe
        branches = [branch.parse(name.strip()) for name in (methods.split(",") if methods else r.methods)]
        try:
            drafter = from_verifier(inputs.model, r.draft_layers, r.target_layer_ids, r.mask_token_id)
        except (AttributeError, KeyError, RuntimeError, ValueError) as error:
            kind = type(inputs.model).__name__
            _fail(f"no drafter of {r.draft_layers} layers from a {kind}: it is not like Llama or Qwen3 ({error})")
        with hardware.processes().main_process_first():
            store, held_out = inputs.stores
            shown = int(held_out.offsets[min(r.eval_prompts, len(held_out.examples))])
            few = inputs.extract(held_out, shown)
            count = inputs.extract(store, r.feature_tokens)
        if count < 1:
            _fail(f"feature_tokens = {r.feature_tokens} does not reach the end of the first example")
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
            work.run(branches)
        except trainer.Interrupted as stopped:
            _say(str(stopped))
            raise typer.Exit(143) from None
        if hardware.processes().is_main_process:
            card.write(inputs, out, [trainer.SHARED, *(b.name for b in branches)], count, _say)


@app.command("eval")
def evaluate(
    checkpoints: Annotated[list[Path], typer.Argument(help="Checkpoint folders.")],
    data: Data,
    recipe: RecipeName = "smollm2-cpu",
    verifier: Verifier = "",
    prompts: Annotated[int | None, typer.Option(help="Held-out prompts; as many as a card's when not given.")] = None,
    nohead: Annotated[bool, typer.Option(help="Measure each without its head too.")] = False,
    walks: Annotated[str, typer.Option(help="Walks to compare on the one checkpoint, with commas.")] = "",
    save: Annotated[Path | None, typer.Option(help="Write the results to this .json file, for `findings`.")] = None,
) -> None:
    """Held-out tau, coverage and prefixes of checkpoints: a table, and as JSON on standard output."""
    from dcoco_viz.train import card

    inputs = _inputs(recipe, data, verifier)
    with _plain_errors():
        asked = [walk.strip() for walk in walks.split(",")] if walks else None
        count = prompts or inputs.recipe.card_prompts
        measured = card.measure(inputs, checkpoints, count, _say, nohead=nohead, walks=asked)
        console.print(_table(measured.figures), width=None if console.is_terminal else TABLE)
        print(json.dumps(measured.figures, indent=1))
        if save is not None:
            save.parent.mkdir(parents=True, exist_ok=True)
            save.write_text(json.dumps(card.saved(inputs, save.stem, measured.figures, checkpoints), indent=1) + "\n")


def _table(figures: dict):
    """Tau by checkpoint, with its interval and the paired difference to the first."""
    from rich.table import Table

    table = Table("", "tau", "95%", "outside loops", "top-1", "selected", "oracle", "difference to the first, 95%")
    ways = {name: own for name, own in figures.items() if name != "difference"}
    for name, own in ways.items():
        gap = figures["difference"].get(f"{name} - {next(iter(ways))}", {}).get("pooled")
        low, high = own["pooled"]["interval"]
        table.add_row(
            name,
            f"{own['pooled']['tau']:.3f}",
            f"{low:.3f} to {high:.3f}",
            f"{own['without_loop_tokens']['tau']:.3f}",
            *(f"{own['prefix'][key]:.3f}" for key in ("top1", "selected", "oracle")),
            f"{gap['tau']:+.3f} ({gap['interval'][0]:+.3f} to {gap['interval'][1]:+.3f})" if gap else "",
        )
    return table


def _first_tokens(sequence, tokens: int):
    end = sequence.prompt + tokens
    rows = ("ids", "hidden", "top_ids", "top_logp")
    return sequence._replace(**{name: getattr(sequence, name)[:end] for name in rows})


def _inputs(recipe: str, path: Path, verifier: str, seed: int | None = None):
    import dataclasses

    from dcoco_viz.train.inputs import Inputs
    from dcoco_viz.train.recipe import AUTO, load

    with _plain_errors():
        asked = load(recipe)
        if verifier:  # another one: the recipe's layers and mask are not its own
            asked = dataclasses.replace(asked, verifier=verifier, target_layer_ids=AUTO, mask_token_id=AUTO)
        if seed is not None:
            asked = dataclasses.replace(asked, seed=seed)
        return Inputs(asked, path, _say)


class _plain_errors:
    """Turn what a user can put right into one sentence and exit code 1."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        from dcoco_viz.methods.checkpoint import CheckpointError
        from dcoco_viz.train.data import DataError
        from dcoco_viz.train.recipe import RecipeError
        from dcoco_viz.verifier import VerifierError

        if isinstance(error, (CheckpointError, DataError, RecipeError, VerifierError, OSError, ValueError)):
            _fail(str(error))


def _fail(text: str):
    console.print(text, markup=False)
    raise typer.Exit(1)
