"""Measuring finished checkpoints on held-out prompts, and the model cards that say what came out."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import torch

from dcoco_viz.methods import checkpoint
from dcoco_viz.train import evaluate, hardware
from dcoco_viz.train.inputs import Inputs


class Measured(NamedTuple):
    """Figures by checkpoint folder name and way of walking, and differences between them."""

    figures: dict
    walked: dict[str, list[evaluate.Walked]]


def measure(inputs: Inputs, folders: list[Path], prompts: int | None, say: Callable[[str], None]) -> Measured:
    """Walk held-out responses with every checkpoint: its own way, and without the corrector where it has one.

    Args:
        prompts: how many held-out prompts (spread evenly over the sources); None for all.

    Raises:
        CheckpointError: a folder is not a usable checkpoint.
    """
    loaded = {folder.name: checkpoint.load(folder) for folder in folders}
    _, store = inputs.stores
    total = len(store.examples) if prompts is None else min(prompts, len(store.examples))
    inputs.extract(store, int(store.offsets[total]))
    sequences = [store[i] for i in range(total)]
    where = inputs.head.device
    ways = {}
    for name, (drafter, corrector) in loaded.items():
        ways[name] = (drafter.to(where), None if corrector is None else corrector.to(where))
        if corrector is not None:
            ways[f"{name}-nohead"] = (drafter, None)
    walked = {}
    with hardware.workers(where) as pool:
        for name, (drafter, corrector) in ways.items():
            walked[name] = evaluate.walk_all(drafter, corrector, sequences, inputs.embedding, inputs.head, pool.map)
            say(f"{name}: tau {evaluate.tau(walked[name]):.4f} on {total} held-out prompts")
    figures = {name: evaluate.figures(w) for name, w in walked.items()}
    pairs = [(a, b) for a, b in (("dcoco", "dflash"), ("dcoco", "dcoco-nohead")) if {a, b} <= set(walked)]
    figures["difference"] = {f"{a} - {b}": _difference(walked[a], walked[b]) for a, b in pairs}
    return Measured(figures, walked)


def _difference(a: list[evaluate.Walked], b: list[evaluate.Walked]) -> dict:
    result = {}
    for key, loops in (("pooled", True), ("without_loop_tokens", False)):
        gap = evaluate.tau(a, loops) - evaluate.tau(b, loops)
        result[key] = {"tau": round(gap, 4), "interval": evaluate.interval(a, b, loops)}
    return result


def write(inputs: Inputs, out: Path, sequences: int, say: Callable[[str], None]) -> None:
    """Measure out/dflash and out/dcoco and put README.md and card.json into both.

    Args:
        sequences: training sequences whose features were used.
    """
    measured = measure(inputs, [out / "dflash", out / "dcoco"], inputs.recipe.card_prompts, say)
    for name in ("dflash", "dcoco"):
        state = torch.load(out / f"{name}.pt", map_location="cpu", weights_only=True)
        card = _facts(inputs, name, state, sequences) | _results(measured.figures, name)
        (out / name / "card.json").write_text(json.dumps(card, indent=1) + "\n")
        (out / name / "README.md").write_text(readme(card))


def _facts(inputs: Inputs, name: str, state: dict, sequences: int) -> dict:
    recipe, (store, _) = inputs.recipe, inputs.stores
    config = json.loads((inputs.folder / "config.json").read_text())
    used = store.examples[:sequences]
    return {
        "checkpoint": name,
        "verifier": "SmolLM2-135M-Instruct" if recipe.verifier == "embedded" else recipe.verifier,
        "verifier_sha256": inputs.sha256,
        "hidden_size": config["hidden_size"],
        "vocab_size": config["vocab_size"],
        "num_target_layers": config["num_hidden_layers"],
        "target_layer_ids": list(recipe.target_layer_ids),
        "licence": "Apache-2.0",
        "data": {
            "responses": "written by the verifier itself, greedily; cut at their first loop",
            "prompts": "questions of GSM8K's training split (MIT); the rest written by the verifier itself",
            "sequences": len(used),
            "response_tokens": sum(len(e.response_ids) for e in used),
            "by_source": {s: sum(e.source == s for e in used) for s in sorted({e.source for e in used})},
        },
        "training": {
            "steps": state["step"],
            "shared_steps": recipe.shared_steps,
            "branch_steps": recipe.branch_steps,
            "response_tokens_seen": state["tokens"],
            "wall_seconds": round(state["seconds"]),
            "precision": str(hardware.fast_dtype()).removeprefix("torch."),
            "seeds": 1,
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
    if name == "dcoco":
        result["held_out_tau_without_corrector"] = {key: figures["dcoco-nohead"][key] for key in keys}
        result["tau_difference"] = figures["difference"]
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
    if "tau_difference" in card:
        rows.append(("corrector off, pooled", card["held_out_tau_without_corrector"]["pooled"]))
        for name, parts in card["tau_difference"].items():
            rows.append((f"difference {name}, pooled", parts["pooled"]))
            rows.append((f"difference {name}, outside loops", parts["without_loop_tokens"]))
    slots = range(len(cover["1"]))
    kind = "DFlash drafter" if card["checkpoint"] == "dflash" else "DCOCO drafter and corrector"
    return text.format(
        title=f"{kind} for {card['verifier']}",
        card=card,
        data=data,
        training=training,
        changes="".join(f"\n- Recipe changed while it ran: {c}." for c in training["changes"]),
        minutes=f"{training['wall_seconds'] / 60:.0f}",
        sources=", ".join(f"{s} {n}" for s, n in data["by_source"].items()),
        tau="\n".join(f"| {n} | {p['tau']:.3f} | {p['interval'][0]:.3f} to {p['interval'][1]:.3f} |" for n, p in rows),
        coverage="\n".join(f"| {j + 1} | {cover['1'][j]:.3f} | {cover['16'][j]:.3f} |" for j in slots),
        prefix=card["accepted_prefix"],
        held=card["held_out"],
    )
