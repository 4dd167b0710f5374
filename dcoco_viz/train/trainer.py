"""The training run: a shared DFlash stage, then two branches of equal length on the same batches."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import torch

from dcoco_viz.methods import checkpoint
from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.train import batches, evaluate, objective, optim
from dcoco_viz.train.features import Sequence, Store
from dcoco_viz.train.recipe import Recipe

SAVE_SECONDS = 120
COUNTERS = ("step", "seconds", "tokens", "changes")
TOLD = (
    "sequences",
    "anchors",
    "long_share",
    "muon_lr",
    "adam_lr",
    "corrector_lr",
)  # a card names their changes


class Interrupted(Exception):
    """The run was asked to stop; its state is on disk."""


class Trainer:
    """Trains both checkpoints into `out`: {dflash,dcoco}/ in the layout that vLLM loads, *.pt to resume from.

    Args:
        start: a fresh drafter.
        store: training features; the sequences 0..count-1 are used.
        held_out: sequences for the figures shown while training.
        vocab: frozen embedding and cut head, on the device to train on.
        head: [V, d] the whole head, for measuring.
        pool: threads that micro-batches, matrices and held-out responses are spread over.
        amp: dtype to compute the loss in.
        say: takes a line of progress.
    """

    def __init__(
        self,
        recipe: Recipe,
        out: Path,
        start: Drafter,
        store: Store,
        count: int,
        held_out: list[Sequence],
        vocab: objective.Vocabulary,
        head: torch.Tensor,
        pool,
        amp: torch.dtype,
        say: Callable[[str], None],
    ):
        self.recipe, self.out, self.start, self.store, self.count = recipe, Path(out), start, store, count
        self.held_out, self.vocab, self.head, self.pool = held_out, vocab, head, pool
        self.amp, self.say, self.device = amp, say, head.device
        self.stop = False

    def run(self) -> None:
        """Train both branches, from where the files in `out` stand.

        Raises:
            Interrupted: SIGTERM or SIGINT came; the state was saved first.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        before = {s: signal.signal(s, self._ask_to_stop) for s in (signal.SIGTERM, signal.SIGINT)}
        try:
            shared = self._train("shared", self._fresh(None), self.recipe.shared_steps)
            for name in ("dflash", "dcoco"):
                branch = self._fresh(self._new_corrector() if name == "dcoco" else None)
                branch["drafter"].load_state_dict(shared["drafter"].state_dict())
                self._adopt(branch, shared)
                self._train(name, branch, self.recipe.total_steps)
        finally:
            for s, handler in before.items():
                signal.signal(s, handler)

    def _ask_to_stop(self, *_) -> None:
        self.stop = True

    def _new_corrector(self) -> Corrector:
        torch.manual_seed(self.recipe.seed)
        return Corrector(self.start.config.hidden_size).to(self.device)

    def _fresh(self, corrector: Corrector | None) -> dict:
        drafter = Drafter(self.start.config)
        drafter.load_state_dict(self.start.state_dict())
        drafter.to(self.device)
        r = self.recipe
        opts = optim.optimizers(drafter, corrector, r.muon_lr, r.adam_lr, r.corrector_lr, self.pool.map)
        return {
            "step": 0,
            "seconds": 0.0,
            "tokens": 0,
            "changes": [],
            "drafter": drafter,
            "corrector": corrector,
            "optimizers": opts,
        }

    def _adopt(self, branch: dict, shared: dict) -> None:
        """Go on with the shared stage's counters and optimizer states; the corrector's own start empty."""
        branch |= {key: shared[key] for key in COUNTERS} | {"changes": list(shared["changes"])}
        for mine, theirs in zip(branch["optimizers"], shared["optimizers"], strict=True):
            # Shared parameters come first in both lists, so their numbers agree.
            state = mine.state_dict()
            state["state"] = {k: _copy(v) for k, v in theirs.state_dict()["state"].items()}
            mine.load_state_dict(state)

    def _train(self, name: str, run: dict, until: int) -> dict:
        self._restore(name, run)
        saved = shown = time.monotonic()
        while run["step"] < until:
            began = time.monotonic()
            losses = self._step(run)
            run["seconds"] += time.monotonic() - began
            text = "  ".join(f"{k} {v:.3f}" for k, v in losses.items() if k != "total")
            self.say(f"{name} step {run['step']}/{until}  {text}  {time.monotonic() - began:.1f} s")
            now = time.monotonic()
            if run["step"] == until or now - shown > self.recipe.eval_minutes * 60:
                self._show(name, run, losses)
                shown = time.monotonic()
            if self.stop or run["step"] == until or now - saved > SAVE_SECONDS:
                self._save(name, run)
                saved = time.monotonic()
            if self.stop:
                raise Interrupted(f"stopped at step {run['step']} of {name}; go on with --resume")
        return run

    def _step(self, run: dict) -> dict[str, float]:
        r, step = self.recipe, run["step"]
        drafter, corrector = run["drafter"], run["corrector"]
        picked = batches.chosen(step, r.sequences, self.count, r.seed)
        length = batches.block_length(step, r.long_share[step >= r.shared_steps], r.seed)
        blocks = r.anchors * batches.SHORT // length
        parts = batches.micro_batches(self.store, picked, r.micro, blocks, length, r.mask_token_id, r.seed + step)
        params = [p for o in run["optimizers"] for g in o.param_groups for p in g["params"]]

        def gradient(part: batches.Blocks) -> tuple:
            part = batches.Blocks(*(t.to(self.device) for t in part))
            with torch.autocast(self.device.type, self.amp, enabled=self.amp != torch.float32):
                losses = objective.loss(drafter, corrector, part, self.vocab)
            return torch.autograd.grad(losses["total"], params), {k: float(v.detach()) for k, v in losses.items()}

        found = list(self.pool.map(gradient, parts))
        for p, *grads in zip(params, *(g for g, _ in found), strict=True):
            p.grad = torch.stack(grads).mean(0)
        scale = optim.factor(step, r.shared_steps, r.total_steps, r.warmup)
        for optimizer in run["optimizers"]:
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * scale
            optimizer.step()
        run["step"] += 1
        run["tokens"] += sum(len(self.store.examples[i].response_ids) for i in picked)
        return {k: sum(losses[k] for _, losses in found) / len(found) for k in found[0][1]}

    def _show(self, name: str, run: dict, losses: dict) -> None:
        """Measure on the held-out sequences, log it, and refresh the checkpoint folder."""
        drafter, corrector = run["drafter"], run["corrector"]
        line = {
            "stage": name,
            "step": run["step"],
            "seconds": round(run["seconds"]),
            "tokens": run["tokens"],
            **losses,
        }
        for key, head in (("tau", None), ("tau_corrected", corrector))[: 1 if corrector is None else 2]:
            walked = evaluate.walk_all(drafter, head, self.held_out, self.vocab.embedding, self.head, self.pool.map)
            line[key] = round(evaluate.tau(walked), 4)
            line |= {f"coverage@{k}": evaluate.coverage(walked, k)[:7] for k in (1, 16)}
        self.say(f"held out, {len(self.held_out)} prompts: " + json.dumps(line))
        with open(self.out / "log.jsonl", "a") as log:
            log.write(json.dumps(line) + "\n")
        checkpoint.save(self.out / ("dcoco" if name == "dcoco" else "dflash"), drafter, corrector)

    def _save(self, name: str, run: dict) -> None:
        state = {k: run[k] for k in COUNTERS} | {"recipe": vars(self.recipe)}
        state["drafter"] = run["drafter"].state_dict()
        state["corrector"] = None if run["corrector"] is None else run["corrector"].state_dict()
        state["optimizers"] = [o.state_dict() for o in run["optimizers"]]
        partial = self.out / f"{name}.pt.part"
        torch.save(state, partial)
        partial.replace(self.out / f"{name}.pt")

    def _restore(self, name: str, run: dict) -> None:
        path = self.out / f"{name}.pt"
        if not path.exists():
            return
        state = torch.load(path, map_location=self.device, weights_only=True)
        for part in ("drafter", "corrector"):
            if run[part] is not None:
                run[part].load_state_dict(state[part])
        for optimizer, saved in zip(run["optimizers"], state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        run |= {k: state[k] for k in COUNTERS}
        now = vars(self.recipe)
        for field in (f for f in TOLD if now[f] != state["recipe"][f]):
            run["changes"].append(f"from step {run['step']}: {field} {state['recipe'][field]} -> {now[field]}")
        self.say(f"{name}: going on from step {run['step']}")


def _copy(state: dict) -> dict:
    return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in state.items()}
