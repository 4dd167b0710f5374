"""Measuring finished checkpoints on held-out prompts, and the model cards that say what came out."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import torch

from dcoco_viz.lattice.walk import parse
from dcoco_viz.methods import METHODS, SERIAL, checkpoint
from dcoco_viz.train import evaluate, hardware
from dcoco_viz.train.inputs import Inputs
from dcoco_viz.train.trainer import SHARED

# The sources of the shipped checkpoints' data, and whose prompts they are.
OURS = (
    {"gsm8k", "magpie", "code", "chat"},
    "questions of GSM8K's training split (MIT); the rest written by the verifier itself",
)


class Measured(NamedTuple):
    """Figures by checkpoint folder name and way of walking, and differences between them."""

    figures: dict
    walked: dict[str, list[evaluate.Walked]]


def measure(
    inputs: Inputs,
    folders: list[Path],
    prompts: int,
    say: Callable[[str], None],
    *,
    nohead: bool = False,
    walks: list[str] | None = None,
) -> Measured:
    """Walk held-out responses with every checkpoint.

    Paired differences are those of every checkpoint, or walk, to all before it, and to itself without its head.

    Args:
        prompts: how many held-out prompts, spread evenly over the sources; or all, where there are fewer.
        nohead: measure every checkpoint that has a head without it too, as NAME-nohead.
        walks: names of walks, to measure the one checkpoint there is by each of them, named by the walk.

    Raises:
        CheckpointError: a folder is not a usable checkpoint, or has no grid to walk on.
        ValueError: no such walk.
    """
    loaded = {folder.name: checkpoint.load(folder) for folder in folders}
    if len(loaded) < len(folders):
        raise checkpoint.CheckpointError("two of the folders have the same name: the figures go by names")
    for folder, (drafter, _) in zip(folders, loaded.values(), strict=True):
        if (reads := drafter.config.target_layer_ids) != inputs.recipe.target_layer_ids:
            raise checkpoint.CheckpointError(
                f"{folder} reads the verifier's layers {list(reads)} and the recipe has "
                f"{list(inputs.recipe.target_layer_ids)}: give the recipe that it was trained with"
            )
        ours, its = inputs.model.config, drafter.config
        if (its.hidden_size, its.vocab_size) != (ours.hidden_size, ours.vocab_size):
            raise checkpoint.CheckpointError(
                f"{folder} is for a verifier of hidden size {its.hidden_size} and {its.vocab_size} tokens; this one "
                f"has {ours.hidden_size} and {ours.vocab_size}"
            )
    ways = {name: (drafter, head, evaluate.GREEDY) for name, (drafter, head) in loaded.items()}
    if walks:
        ways = _by_walk(ways, walks)
    elif nohead:
        bare = {f"{name}-nohead": (way[0], None, evaluate.GREEDY) for name, way in ways.items() if way[1] is not None}
        ways |= bare
    _, store = inputs.stores
    total = min(prompts, len(store.examples))
    inputs.extract(store, int(store.offsets[total]))
    sequences = [store[i] for i in range(total)]
    where, walked = inputs.head.device, {}
    with hardware.workers(where) as pool:
        for name, (drafter, head, walk) in ways.items():
            models = drafter.to(where), None if head is None else head.to(where)
            walked[name] = evaluate.walk_all(*models, sequences, inputs.embedding, inputs.head, pool.map, walk)
            say(f"{name}: tau {evaluate.tau(walked[name]):.4f} on {total} held-out prompts")
    figures = {name: evaluate.figures(w) for name, w in walked.items()}
    own = [name for name in walked if not name.endswith("-nohead")]
    pairs = [(own[i], own[j]) for i in range(len(own)) for j in range(i)]
    pairs += [(name, f"{name}-nohead") for name in own if f"{name}-nohead" in walked]
    figures["difference"] = {f"{a} - {b}": _difference(walked[a], walked[b]) for a, b in pairs}
    return Measured(figures, walked)


def _by_walk(ways: dict, walks: list[str]) -> dict:
    """The one checkpoint by several walks."""
    if len(ways) > 1:
        raise checkpoint.CheckpointError("walks are compared on one checkpoint: name one")
    ((name, (drafter, head, _)),) = ways.items()
    if head is None or head.kind in SERIAL:
        raise checkpoint.CheckpointError(f"{name} scores no grid of transitions that a walk could go through")
    return {walk.name: (drafter, head, walk) for walk in map(parse, walks)}


def _difference(a: list[evaluate.Walked], b: list[evaluate.Walked]) -> dict:
    result = {}
    for key, loops in (("pooled", True), ("without_loop_tokens", False)):
        gap = evaluate.tau(a, loops) - evaluate.tau(b, loops)
        result[key] = {"tau": round(gap, 4), "interval": evaluate.interval(a, b, loops)}
    return result


def write(inputs: Inputs, out: Path, names: list[str], sequences: int, say: Callable[[str], None]) -> None:
    """Measure the checkpoints out/NAME and put README.md and card.json into each.

    Args:
        sequences: training sequences whose features were used.
    """
    measured = measure(inputs, [out / name for name in names], inputs.recipe.card_prompts, say, nohead=True)
    for name in names:
        state = torch.load(out / f"{name}.pt", map_location="cpu", weights_only=True)
        card = _facts(inputs, name, state, sequences) | _results(measured.figures, name)
        (out / name / "card.json").write_text(json.dumps(card, indent=1) + "\n")
        (out / name / "README.md").write_text(readme(card))


def saved(inputs: Inputs, name: str, figures: dict, folders: list[Path]) -> dict:
    """What a file of results holds: the figures, and what they were measured on (read by `findings`).

    Args:
        folders: the checkpoints; the card of the one that was trained longest says how they were trained.

    Raises:
        CheckpointError: no card says how they were trained, as with imported ones.
    """
    cards = [json.loads(card.read_text()) for folder in folders if (card := folder / "card.json").is_file()]
    trained = [card for card in cards if {"data", "training"} <= set(card)]
    if not trained:
        raise checkpoint.CheckpointError(
            "nothing saved: a file of results says how its checkpoints were trained, and no card.json of these does"
        )
    facts = max(trained, key=lambda card: card["training"]["steps"])
    ways = {way: value for way, value in figures.items() if way != "difference"}
    return {
        "name": name,
        "verifier": facts["verifier"],
        "verifier_sha256": inputs.sha256,
        "data": {"file": inputs.path.name} | {k: facts["data"][k] for k in ("sequences", "response_tokens")},
        "training": {k: v for k, v in facts["training"].items() if isinstance(v, int | str)},
        "held_out": {"prompts": next(iter(ways.values()))["prompts"]},
        "temperature": 0,
        "figures": ways,
        "difference": figures["difference"],
    }


def _facts(inputs: Inputs, name: str, state: dict, sequences: int) -> dict:
    recipe, (store, _) = inputs.recipe, inputs.stores
    config = json.loads((inputs.folder / "config.json").read_text())
    used = store.examples[:sequences]
    ours = recipe.verifier == "embedded" and {e.source for e in used} <= OURS[0]
    return {
        "checkpoint": name,
        "verifier": "SmolLM2-135M-Instruct" if recipe.verifier == "embedded" else recipe.verifier,
        "verifier_sha256": inputs.sha256,
        "hidden_size": config["hidden_size"],
        "vocab_size": config["vocab_size"],
        "num_target_layers": config["num_hidden_layers"],
        "target_layer_ids": list(recipe.target_layer_ids),
        "licence": "Apache-2.0" if ours else "that of its verifier and its data",
        "data": {
            "responses": "written by the verifier itself, greedily; cut at their first loop",
            "prompts": OURS[1] if ours else f"from {inputs.path.name}",
            "sequences": len(used),
            "response_tokens": sum(len(e.response_ids) for e in used),
            "by_source": {s: sum(e.source == s for e in used) for s in sorted({e.source for e in used})},
        },
        "training": {
            "steps": state["step"],
            "shared_steps": recipe.shared_steps,
            "branch_steps": 0 if name == SHARED else recipe.branch_steps,
            "response_tokens_seen": state["tokens"],
            "wall_seconds": round(state["seconds"]),
            "precision": str(hardware.fast_dtype()).removeprefix("torch."),
            "seed": recipe.seed,
            "changes": state["changes"],
        },
    }


def _results(figures: dict, name: str) -> dict:
    own = figures[name]
    keys = ("pooled", "without_loop_tokens", "by_source")
    result = {
        "held_out": {key: own[key] for key in ("prompts", "cycles", "cycles_with_all_slots")},
        "held_out_tau": {key: own[key] for key in keys},
        "coverage_by_slot": own["coverage_by_slot"],
        "accepted_prefix": own["prefix"],
    }
    if (bare := f"{name}-nohead") in figures:
        result["held_out_tau_without_head"] = {key: figures[bare][key] for key in keys}
    differences = {pair: parts for pair, parts in figures["difference"].items() if pair.startswith(f"{name} - ")}
    if differences:
        result["tau_difference"] = differences
    return result


def readme(card: dict) -> str:
    """The card for people, out of card.json's figures and nothing else."""
    text = files("dcoco_viz.train").joinpath("card.md").read_text()
    tau, data, training, cover = (
        card["held_out_tau"],
        card["data"],
        card["training"],
        card["coverage_by_slot"],
    )
    rows = [("all prompts, pooled", tau["pooled"]), ("outside loops", tau["without_loop_tokens"])]
    rows += [(f"{s} ({part['prompts']} prompts)", part) for s, part in tau["by_source"].items()]
    if "held_out_tau_without_head" in card:
        rows.append(("head off, pooled", card["held_out_tau_without_head"]["pooled"]))
    for name, parts in card.get("tau_difference", {}).items():
        rows.append((f"difference {name}, pooled", parts["pooled"]))
        rows.append((f"difference {name}, outside loops", parts["without_loop_tokens"]))
    slots, most = range(len(cover["1"])), max(cover, key=int)
    method = card["checkpoint"].partition("+")[0]
    kind = METHODS[method].label if method in METHODS else card["checkpoint"]
    return text.format(
        title=f"{kind}, for {card['verifier']}",
        card=card,
        data=data,
        training=training,
        changes="".join(f"\n- Recipe changed while it ran: {c}." for c in training["changes"]),
        minutes=f"{training['wall_seconds'] / 60:.0f}",
        sources=", ".join(f"{s} {n}" for s, n in data["by_source"].items()),
        tau="\n".join(f"| {n} | {p['tau']:.3f} | {p['interval'][0]:.3f} to {p['interval'][1]:.3f} |" for n, p in rows),
        coverage="\n".join(f"| {j + 1} | {cover['1'][j]:.3f} | {cover[most][j]:.3f} |" for j in slots),
        most=most,
        prefix=card["accepted_prefix"],
        held=card["held_out"],
        terms=", as the verifier. Questions of GSM8K: MIT" if card["licence"] == "Apache-2.0" else "",
    )
