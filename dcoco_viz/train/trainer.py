"""The training run: a shared DFlash stage, then every method from there, for as many steps on the same batches."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import torch
from accelerate.utils import reduce

from dcoco_viz.methods import checkpoint, heads
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.train import batches, evaluate, hardware, objective, optim
from dcoco_viz.train.branch import Branch
from dcoco_viz.train.data import DataError
from dcoco_viz.train.features import Sequence, Store
from dcoco_viz.train.recipe import Recipe

SAVE_SECONDS = 120
SHARED = "dflash"  # the shared stage's checkpoint, and a method of its own
COUNTERS = ("step", "seconds", "tokens", "changes")
TOLD = ("sequences", "anchors", "long_share", "muon_lr", "adam_lr", "head_lr")  # a card names their changes
FIXED = ("verifier", "target_layer_ids", "mask_token_id", "draft_layers", "loss_vocab", "seed")  # a run keeps these


class Interrupted(Exception):
    """The run was asked to stop; its state is on disk."""


class Trainer:
    """Trains one checkpoint a method into `out`/NAME/, in the layout that vLLM loads; NAME.pt to resume from.

    Started by `accelerate launch` in several processes, each takes its share of a step's micro-batches, gradients
    are averaged over all, and the first process alone measures, writes and tells.

    Args:
        start: a fresh drafter.
        store: training features; the sequences 0..count-1 are used.
        held_out: sequences for the figures shown while training.
        vocab: frozen embedding and cut head, on the device to train on.
        head: [V, d] the whole LM head, for measuring.
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
        self.amp, self.device, self.processes = amp, head.device, hardware.processes()
        self.say = say if self.processes.is_main_process else lambda text: None
        self.stop = False

    def run(self, branches: list[Branch]) -> None:
        """Train the shared stage and every branch, from where the files in `out` stand.

        Raises:
            Interrupted: SIGTERM or SIGINT came; the state was saved first.
            data.DataError: the files in `out` are of a run on other data, or of a recipe that does not go with them.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        before = {s: signal.signal(s, self._ask_to_stop) for s in (signal.SIGTERM, signal.SIGINT)}
        try:
            shared = self._train(SHARED, self._fresh(None), self.recipe.shared_steps)
            for branch in branches:
                run = self._fresh(branch)
                run["drafter"].load_state_dict(shared["drafter"].state_dict())
                self._adopt(run, shared)
                self._train(branch.name, run, self.recipe.total_steps)
        finally:
            for s, handler in before.items():
                signal.signal(s, handler)

    def _ask_to_stop(self, *_) -> None:
        self.stop = True

    def _new_head(self, branch: Branch) -> torch.nn.Module | None:
        if not branch.kind:
            return None
        torch.manual_seed(self.recipe.seed)
        config = self.start.config
        head = heads.make(branch.kind, config.hidden_size, config.vocab_size, **branch.settings).to(self.device)
        heads.start(head, self.vocab.embedding)
        return head

    def _fresh(self, branch: Branch | None) -> dict:
        """The state of a branch before its first step; of the shared stage where it is None."""
        drafter = Drafter(self.start.config)
        drafter.load_state_dict(self.start.state_dict())
        drafter.to(self.device)
        head = None if branch is None else self._new_head(branch)
        r, learns = self.recipe, None if branch is not None and branch.frozen else drafter
        head_lr = 0.0 if head is None else r.head_lr[head.kind]
        opts = optim.optimizers(learns, head, r.muon_lr, r.adam_lr, head_lr, self.pool.map)
        counters = {"step": 0, "seconds": 0.0, "tokens": 0, "changes": []}
        return counters | {"branch": branch, "drafter": drafter, "head": head, "optimizers": opts}

    def _adopt(self, run: dict, shared: dict) -> None:
        """Go on with the shared stage's counters and optimizer states; the head's own start empty."""
        run |= {key: shared[key] for key in COUNTERS} | {"changes": list(shared["changes"])}
        if run["branch"].frozen:
            return
        for mine, theirs in zip(run["optimizers"], shared["optimizers"], strict=True):
            # Shared parameters come first in both lists, so their numbers agree.
            _take_over(mine, {k: _copy(v) for k, v in theirs.state_dict()["state"].items()})

    def _train(self, name: str, run: dict, until: int) -> dict:
        self._restore(name, run)
        saved = shown = time.monotonic()
        while run["step"] < until:
            began = time.monotonic()
            losses = self._step(run)
            run["seconds"] += time.monotonic() - began
            text = "  ".join(f"{k} {v:.3f}" for k, v in losses.items() if k != "total")
            self.say(f"{name} step {run['step']}/{until}  {text}  {time.monotonic() - began:.1f} s")
            stop, save, show = self._together(
                self.stop,
                time.monotonic() - saved > SAVE_SECONDS,
                time.monotonic() - shown > self.recipe.eval_minutes * 60,
            )
            last = run["step"] == until
            if last or show:
                self._show(name, run, losses)
                shown = time.monotonic()
            if last or stop or save:
                self._save(name, run)
                saved = time.monotonic()
            if stop:
                raise Interrupted(f"stopped at step {run['step']} of {name}; go on with --resume")
        return run

    def _together(self, *flags: bool) -> list[bool]:
        """Whether any process says so; without this they would wait for each other for ever."""
        if self.processes.num_processes == 1:
            return list(flags)
        return (reduce(torch.tensor([float(f) for f in flags], device=self.device), "sum") > 0).tolist()

    def _step(self, run: dict) -> dict[str, float]:
        r, step, branch = self.recipe, run["step"], run["branch"]
        drafter, head = run["drafter"], run["head"]
        picked = batches.chosen(step, r.sequences, self.count, r.seed)
        length = batches.block_length(step, r.long_share[step >= r.shared_steps], r.seed)
        blocks = r.anchors * batches.SHORT // length
        parts = batches.micro_batches(self.store, picked, r.micro, blocks, length, r.mask_token_id, r.seed + step)
        params = [p for o in run["optimizers"] for g in o.param_groups for p in g["params"]]
        ways = {"progress": (step - r.shared_steps) / max(1, r.branch_steps)}
        if branch is not None:
            ways |= {"frozen": branch.frozen, "rho": branch.rho}

        def gradient(part: batches.Blocks) -> tuple:
            part = batches.Blocks(*(t.to(self.device) for t in part))
            with torch.autocast(self.device.type, self.amp, enabled=self.amp != torch.float32):
                losses = objective.loss(drafter, head, part, self.vocab, **ways)
            grads = torch.autograd.grad(losses["total"], params, allow_unused=True, materialize_grads=True)
            return grads, {k: float(v.detach()) for k, v in losses.items()}

        mine = parts[self.processes.process_index :: self.processes.num_processes]
        found = list(self.pool.map(gradient, mine))
        for n, p in enumerate(params):
            total = torch.stack([grads[n] for grads, _ in found]).sum(0) if found else torch.zeros_like(p)
            p.grad = reduce(total, "sum") / len(parts)
        for optimizer in run["optimizers"]:
            for group in optimizer.param_groups:
                scale = optim.factor(step, r.shared_steps, r.total_steps, r.warmup, group["late"])
                group["lr"] = group["peak"] * scale
            optimizer.step()
        run["step"] += 1
        run["tokens"] += sum(len(self.store.examples[i].response_ids) for i in picked)
        return {k: sum(losses[k] for _, losses in found) / len(found) for k in found[0][1]} if found else {}

    def _show(self, name: str, run: dict, losses: dict) -> None:
        """Measure on the held-out sequences, log it, and refresh the checkpoint folder."""
        if not self.processes.is_main_process:
            return
        line = {"stage": name, "step": run["step"], "seconds": round(run["seconds"]), "tokens": run["tokens"], **losses}
        for key, head in (("tau", None), ("tau_head", run["head"]))[: 1 if run["head"] is None else 2]:
            walked = evaluate.walk_all(
                run["drafter"], head, self.held_out, self.vocab.embedding, self.head, self.pool.map
            )
            line[key] = round(evaluate.tau(walked), 4)
            line |= {f"coverage@{k}": evaluate.coverage(walked, k)[:7] for k in (1, 16)}
        self.say(f"held out, {len(self.held_out)} prompts: " + json.dumps(line))
        with open(self.out / "log.jsonl", "a") as log:
            log.write(json.dumps(line) + "\n")
        checkpoint.save(self.out / name, run["drafter"], run["head"])

    def _save(self, name: str, run: dict) -> None:
        if not self.processes.is_main_process:
            return
        state = {k: run[k] for k in COUNTERS} | {"recipe": vars(self.recipe), "data": self.store.path.name}
        state |= {part: None if run[part] is None else run[part].state_dict() for part in ("drafter", "head")}
        state["optimizers"] = [o.state_dict() for o in run["optimizers"]]
        partial = self.out / f"{name}.pt.part"
        torch.save(state, partial)
        partial.replace(self.out / f"{name}.pt")

    def _restore(self, name: str, run: dict) -> None:
        path = self.out / f"{name}.pt"
        if not path.exists():
            return
        state = torch.load(path, map_location=self.device, weights_only=True)
        self._check_same_run(path, state)
        for part in ("drafter", "head"):
            if run[part] is not None:
                run[part].load_state_dict(state[part])
        for optimizer, saved in zip(run["optimizers"], state["optimizers"], strict=True):
            _take_over(optimizer, saved["state"])
        run |= {k: state[k] for k in COUNTERS}
        now = vars(self.recipe)
        for field in (f for f in TOLD if now[f] != state["recipe"][f]):
            run["changes"].append(f"from step {run['step']}: {field} {state['recipe'][field]} -> {now[field]}")
        self.say(f"{name}: going on from step {run['step']}")

    def _check_same_run(self, path: Path, state: dict) -> None:
        now, then = vars(self.recipe), state["recipe"]
        for field in (f for f in FIXED if now[f] != then[f]):
            raise DataError(f"{path} is of a run with {field} = {then[field]}, not {now[field]}: choose another --out")
        if state["data"] != self.store.path.name:
            raise DataError(f"{path} is of a run on other data or features: choose another --out")


def _take_over(optimizer: torch.optim.Optimizer, state: dict) -> None:
    """Go on from another optimizer's state by parameter; the groups, and so the learning rates, stay its own."""
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def _copy(state: dict) -> dict:
    return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in state.items()}
