"""Run by torchrun: trains on the tiny verifier into a folder, as one of several processes."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from dcoco_viz.methods.dflash.start import from_verifier
from dcoco_viz.train import hardware, objective, trainer
from dcoco_viz.train.branch import parse
from tests.unit.train import tiny


def main(out: Path, stop_at: str) -> None:
    """Train `dcoco` behind its shared stage; the last process stops itself at the line that begins with `stop_at`."""
    torch.set_num_threads(1)
    model, processes = tiny.verifier(), hardware.processes()
    with processes.main_process_first():
        store = tiny.store(out.parent / "features", model, tiny.examples(model))
    embedding = model.get_input_embeddings().weight
    vocab = objective.vocabulary(embedding, embedding, torch.arange(60))
    start, pool = from_verifier(model, 2, tiny.LAYERS, 1), ThreadPoolExecutor(1)
    made = trainer.Trainer(
        tiny.small_recipe(), out, start, store, 10, [store[0]], vocab, embedding, pool, torch.float32,
        lambda line: print(line, flush=True),
    )  # fmt: skip
    if stop_at and processes.is_last_process:
        step = made._step

        def stopping(run):
            if f"{'dflash' if run['branch'] is None else run['branch'].name} {run['step']}" == stop_at:
                os.kill(os.getpid(), signal.SIGTERM)
            return step(run)

        made._step = stopping
    try:
        made.run([parse("dcoco")])
    except trainer.Interrupted as stopped:
        print(f"process {processes.process_index}: {stopped}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
