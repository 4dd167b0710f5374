"""Do the engine and the trainer's own arithmetic draft the same? Every cycle of a run, once more without vLLM.

The verifier runs in transformers over the text that the run committed, drafter and head as the trainer runs them, all
in float32, as the run must be. Where the two choose different tokens, the margin says by how much the offline scores
prefer theirs: two implementations add in different orders, so that a tie may go either way, and nothing else may.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from dcoco_viz import verifier
from dcoco_viz.lattice.accept import accepted_length
from dcoco_viz.lattice.pool import top_k
from dcoco_viz.lattice.walk import along, parse
from dcoco_viz.methods import METHODS, checkpoint
from dcoco_viz.methods.block import Block
from dcoco_viz.methods.heads import decide
from dcoco_viz.metrics.prefix import truth
from dcoco_viz.presets import EMBEDDED, Preset
from dcoco_viz.trace.schema import Cycle, Request, Run

TIE = 1e-2  # logits
PROMPTS = ("Write a Python function that returns the n-th Fibonacci number.", "What is the capital of France?")
TOKENS = 32
LARGEST = 2e9  # bytes of a verifier's weights; a larger one is no quick check in float32 on a CPU


def report(preset: Preset) -> list[str]:
    """Start the preset's engine in float32, decode PROMPTS with every method, and print a table of parities.

    Returns:
        What is wrong, a sentence each.
    """
    import asyncio

    from rich.console import Console
    from rich.table import Table

    from dcoco_viz.engine.session import EngineError

    folder = verifier.prepare() if preset.verifier == EMBEDDED else Path(preset.verifier)
    weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    if not 0 < weights <= LARGEST:
        return [f"--parity runs the verifier in float32 on the CPU, from a folder and up to {LARGEST / 1e9:.0f} GB."]
    print("starting the engine, in float32", file=sys.stderr, flush=True)
    try:
        found = asyncio.run(_measure(preset, folder))
    except (EngineError, checkpoint.CheckpointError) as error:
        return [str(error)]
    table = Table("method", "cycles", "equal", "ties", "largest tie, logits", "faults")
    for part in found:
        ties = [difference.margin for difference in part.differences if difference.tie]
        largest = f"{max(ties):.1e}" if ties else ""
        table.add_row(part.method, *map(str, (part.cycles, part.equal, len(ties), largest, part.faults)))
    Console().print(table)
    return [_fault(part) for part in found if part.faults]


async def _measure(preset: Preset, folder: Path) -> list["Parity"]:
    from dcoco_viz.engine.session import Session

    session = await Session.start(preset, dtype="float32")
    try:
        runs: dict[str, list[Run]] = {}
        for name in session.methods:
            for prompt in PROMPTS if METHODS[name].drafter else ():
                request = Request(prompt=prompt, method=name, max_tokens=TOKENS)
                events = [event async for event in session.generate(request)]
                runs.setdefault(METHODS[name].drafter, []).append(events[-1].run)
    finally:
        await session.close()
    offline = Offline(folder)
    return [part for name, own in runs.items() for part in offline.compare(own, preset.drafters[name])]


def _fault(part: "Parity") -> str:
    worst = max((d for d in part.differences if not d.tie), key=lambda d: d.margin, default=None)
    if worst is None:
        return f"{part.method}: in {part.lengths} cycles the accepted length is not the match with the text."
    return (
        f"{part.method}: the engine drafts other tokens than the checkpoint's own arithmetic in {part.faults} of "
        f"{part.cycles} cycles, first in slot {worst.slot} of cycle {worst.cycle} (token {worst.engine} in place of "
        f"{worst.offline}, {worst.margin:.3g} logits behind)."
    )


class Difference(NamedTuple):
    """The first slot of a cycle at which the two drafted different tokens."""

    run: str
    cycle: int
    slot: int  # from 1
    engine: int  # token ids
    offline: int
    margin: float  # by how much the offline scores prefer their own, logits; inf: the engine's is no candidate

    @property
    def tie(self) -> bool:
        return self.margin <= TIE


class Parity(NamedTuple):
    """One method's runs against the offline arithmetic."""

    method: str
    cycles: int
    equal: int  # the whole path is the same, and so is the accepted length
    differences: list[Difference]
    lengths: int  # cycles whose accepted length is not the match of the recorded path with the text

    @property
    def faults(self) -> int:
        """What cannot be explained by a tie."""
        return self.lengths + sum(not difference.tie for difference in self.differences)


class Offline:
    """A verifier in transformers, to draft with beside it.

    Args:
        verifier_folder: in the layout of transformers, or a hub id.
    """

    def __init__(self, verifier_folder: str | Path):
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained(verifier_folder, dtype=torch.float32)
        self._model = model.eval().requires_grad_(False)
        self._embedding = self._model.get_input_embeddings().weight
        self._head = self._model.get_output_embeddings().weight

    def compare(self, runs: Iterable[Run], folder: str | Path) -> list[Parity]:
        """Draft every cycle of these runs again, by the checkpoint in `folder`; one result a method.

        Args:
            runs: decoded in float32 at T = 0 by methods of that checkpoint, recorded in full.

        Raises:
            CheckpointError: the folder is not a usable checkpoint.
            ValueError: a run holds no candidates or was not decoded in float32 at T = 0.
        """
        drafter, head = checkpoint.load(Path(folder))
        found: dict[str, list[Parity]] = {}
        for run in runs:
            method = METHODS[run.request.method]
            found.setdefault(method.name, []).append(self._run(run, drafter, head if method.head else None))
        return [_sum(parts) for parts in found.values()]

    @torch.inference_mode()
    def _run(self, run: Run, drafter, head) -> Parity:
        cycles = [cycle for cycle in run.cycles if cycle.candidates is not None]
        if not cycles or run.request.temperature > 0 or run.meta.get("dtype") != "float32":
            raise ValueError("Parity needs runs that drafted, in float32, at temperature 0, and were recorded in full.")
        ids = torch.tensor([run.prompt_ids + run.token_ids])
        states = self._model.base_model(ids, output_hidden_states=True, use_cache=False).hidden_states
        features = torch.cat([states[layer + 1] for layer in drafter.config.target_layer_ids], -1)
        anchors = torch.tensor([[cycle.anchor_position for cycle in cycles]])
        tokens = torch.full((1, len(cycles), drafter.config.block_size), drafter.config.mask_token_id)
        tokens[0, :, 0] = ids[0, anchors[0]]
        hidden = drafter(self._embedding[tokens], anchors, drafter.context(features))[0]
        logits = hidden[:, 1:] @ self._head.T
        pool = top_k(logits, checkpoint.TOP_K, normalise=False)
        block = Block(hidden, tokens[0, :, 0], pool.ids, pool.logits, lambda wanted: self._embedding[wanted])
        ranks, scores = _chosen(head, block, parse(run.request.walk))
        parts = zip(cycles, pool.ids.numpy(), ranks.numpy(), scores.numpy(), strict=True)
        differences = [d for part in parts if (d := _difference(run, *part))]
        wrong = sum(_accepted(run, cycle) != cycle.accepted for cycle in cycles if not cycle.clipped)
        return Parity(run.request.method, len(cycles), len(cycles) - len(differences), differences, wrong)


def _chosen(head, block: Block, walk) -> tuple[torch.Tensor, torch.Tensor]:
    """Ranks [N, B], and the scores [N, B, K] that they were chosen by."""
    if head is None:
        return torch.zeros(block.ids.shape[:2], dtype=torch.int64), block.logits
    decided = decide(head, block, [walk] * len(block.ids))
    if decided.corrected is not None:
        return decided.ranks, decided.corrected
    return decided.ranks, along(block.logits[:, 0], decided.scores, decided.ranks)


def _difference(run: Run, cycle: Cycle, ids: np.ndarray, ranks: np.ndarray, scores: np.ndarray) -> Difference | None:
    slots = np.arange(len(ranks))
    ours, theirs = ids[slots, ranks], cycle.candidates[slots, cycle.ranks]
    if not (different := np.flatnonzero(ours != theirs)).size:
        return None
    slot = int(different[0])
    place = np.flatnonzero(ids[slot] == theirs[slot])
    margin = float(scores[slot, ranks[slot]] - scores[slot, place[0]]) if place.size else float("inf")
    return Difference(run.id, cycle.index, slot + 1, int(theirs[slot]), int(ours[slot]), margin)


def _accepted(run: Run, cycle: Cycle) -> int:
    right = truth(run, cycle)[: cycle.submitted]
    return int(accepted_length(torch.from_numpy(cycle.drafted.astype(np.int64)), torch.from_numpy(right)))


def _sum(parts: list[Parity]) -> Parity:
    differences = [difference for part in parts for difference in part.differences]
    numbers = (sum(getattr(part, name) for part in parts) for name in ("cycles", "equal"))
    return Parity(parts[0].method, *numbers, differences, sum(part.lengths for part in parts))
