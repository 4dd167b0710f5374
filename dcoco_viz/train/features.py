"""What the verifier saw: hidden states of some layers and its best next tokens, computed once, kept on disk.

A store is a folder with three flat arrays, one row per token of its sequences (prompt, then response), and a
progress file. It is filled front to back and may be read up to its progress while it grows.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from dcoco_viz.train.data import Example

TOP = 16
NEVER = -1e4  # log-probability where there are fewer label tokens than TOP
SHARD = 96  # sequences sorted by length and batched together (little padding), and the unit of progress
BATCH_TOKENS = 1536


class Sequence(NamedTuple):
    """One example with the verifier's view of it."""

    ids: torch.Tensor  # [T] int64, prompt then response
    prompt: int  # tokens of the prompt
    hidden: torch.Tensor  # [T, layers * d] bfloat16
    top_ids: torch.Tensor  # [T, TOP] int64, the verifier's best next tokens after each position of a response
    top_logp: torch.Tensor  # [T, TOP] float32, their log-probabilities among the label tokens; prompt rows are 0
    source: str


class Store:
    """Verifier features of a fixed list of examples.

    Args:
        root: folder that holds all stores (the user's cache).
        key: everything besides the examples that the features depend on (verifier, layers, label tokens).
    """

    def __init__(self, root: Path, examples: list[Example], key: dict, width: int):
        digest = hashlib.sha256(json.dumps([key, width, TOP]).encode())
        for e in examples:
            digest.update(np.array([len(e.prompt_ids), *e.prompt_ids, *e.response_ids], np.int64).tobytes())
        self.examples, self.width = examples, width
        self.path = Path(root) / "features" / digest.hexdigest()[:16]
        lengths = [len(e.prompt_ids) + len(e.response_ids) for e in examples]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def bytes(self) -> int:
        """Size of the whole store on disk."""
        return int(self.offsets[-1]) * (self.width * 2 + TOP * 6)

    def done(self) -> int:
        """Sequences computed so far (a prefix of the examples)."""
        progress = self.path / "progress.json"
        return json.loads(progress.read_text())["sequences"] if progress.exists() else 0

    def open(self, mode: str = "r") -> "Store":
        """Map the arrays; `r+` creates them first where they do not exist."""
        rows = int(self.offsets[-1])
        shapes = {"hidden": (np.int16, self.width), "top_ids": (np.int32, TOP), "top_logp": (np.float16, TOP)}
        for name, (dtype, width) in shapes.items():
            file = self.path / f"{name}.bin"
            if mode == "r+" and not file.exists():
                self.path.mkdir(parents=True, exist_ok=True)
                with open(file, "wb") as handle:
                    handle.truncate(rows * width * np.dtype(dtype).itemsize)
            setattr(self, name, np.memmap(file, dtype, mode, shape=(rows, width)))
        return self

    def commit(self, sequences: int) -> None:
        """Record that the first `sequences` sequences are complete on disk."""
        for array in (self.hidden, self.top_ids, self.top_logp):
            array.flush()
        partial = self.path / "progress.json.part"
        partial.write_text(json.dumps({"sequences": sequences}))
        os.replace(partial, self.path / "progress.json")

    def __getitem__(self, i: int) -> Sequence:
        rows, example = slice(*self.offsets[i : i + 2]), self.examples[i]
        return Sequence(
            torch.tensor(example.prompt_ids + example.response_ids),
            len(example.prompt_ids),
            torch.from_numpy(np.array(self.hidden[rows])).view(torch.bfloat16),
            torch.from_numpy(np.array(self.top_ids[rows])).long(),
            torch.from_numpy(np.array(self.top_logp[rows])).float(),
            example.source,
        )


def label_tokens(examples: list[Example], size: int) -> torch.Tensor:
    """The `size` most frequent response tokens, most frequent first (fewer when fewer occur): [n] int64."""
    counts = torch.bincount(torch.cat([torch.tensor(e.response_ids) for e in examples]))
    order = counts.argsort(descending=True, stable=True)
    return order[: min(size, int((counts > 0).sum()))]


def extract(
    store: Store,
    model: torch.nn.Module,
    layers: tuple[int, ...],
    labels: torch.Tensor,
    *,
    tokens: int | None = None,
    progress: Callable[[str], None] = print,
) -> int:
    """Compute features front to back until `tokens` tokens (or all) are there; goes on where it stopped.

    Args:
        model: a transformers causal LM, in the dtype and on the device to compute with.
        layers: z-lab layer ids; the hidden state AFTER layer i is `hidden_states[i + 1]`.
        labels: [V'] token ids among which the verifier's best next tokens are kept.

    Returns:
        Sequences available.

    Raises:
        OSError: the disk cannot hold the store.
    """
    wanted = len(store.examples) if tokens is None else int(np.searchsorted(store.offsets, tokens, "right")) - 1
    wanted = min(wanted, len(store.examples))
    if store.done() >= wanted:
        return wanted
    store.path.mkdir(parents=True, exist_ok=True)
    need = int(store.offsets[wanted] - store.offsets[store.done()]) * (store.width * 2 + TOP * 6)
    if shutil.disk_usage(store.path).free < need * 1.1:
        raise OSError(f"verifier features need {need / 1e9:.1f} GB in {store.path}: make room or set DCOCO_VIZ_CACHE")
    progress(f"verifier features: {need / 1e9:.2f} GB in {store.path}")
    store.open("r+")
    head = model.get_output_embeddings().weight[labels.to(model.device)]
    # One single-threaded forward a core: spread over all cores, it would be held up by the slowest.
    workers = torch.get_num_threads() if model.device.type == "cpu" else 1
    start, first, threads = time.monotonic(), store.done(), torch.get_num_threads()
    torch.set_num_threads(max(1, threads // workers))
    try:
        with ThreadPoolExecutor(workers) as pool:
            while (done := store.done()) < wanted:
                end = min(done + SHARD, wanted)
                jobs = [
                    pool.submit(_forward, store, model, layers, labels, head, b) for b in _batches(store, done, end)
                ]
                for job in jobs:
                    job.result()
                store.commit(end)
                rate = (store.offsets[end] - store.offsets[first]) / (time.monotonic() - start)
                progress(f"features {end}/{wanted} sequences, {store.offsets[end]:,} tokens, {rate:.0f} tokens/s")
    finally:
        torch.set_num_threads(threads)
    return wanted


def _batches(store: Store, begin: int, end: int) -> list[list[int]]:
    """Sequences begin..end-1 by length in padded batches of about BATCH_TOKENS, the longest first."""
    lengths, batches = np.diff(store.offsets), []
    for i in sorted(range(begin, end), key=lambda i: -lengths[i]):
        if not batches or lengths[batches[-1][0]] * (len(batches[-1]) + 1) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(i)
    return batches


@torch.inference_mode()
def _forward(store, model, layers, labels, head, batch: list[int]) -> None:
    """One padded forward; causal attention, so right padding needs no mask."""
    sequences = [store.examples[i].prompt_ids + store.examples[i].response_ids for i in batch]
    ids = torch.zeros(len(batch), max(map(len, sequences)), dtype=torch.long)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = torch.tensor(sequence)
    out = model.base_model(ids.to(model.device), output_hidden_states=True, use_cache=False)
    features = torch.cat([out.hidden_states[i + 1] for i in layers], -1).bfloat16().cpu()
    last = out.last_hidden_state
    for b, i in enumerate(batch):
        begin, end = store.offsets[i : i + 2]
        prompt = len(store.examples[i].prompt_ids)
        store.hidden[begin:end] = features[b, : end - begin].view(torch.int16).numpy()
        logp = (last[b, prompt - 1 : end - begin] @ head.T).float().log_softmax(-1)
        top = logp.topk(min(TOP, logp.shape[-1]), -1)
        few = top.values.shape[-1]
        store.top_ids[begin + prompt - 1 : end, :few] = labels[top.indices.cpu()].numpy()
        store.top_logp[begin + prompt - 1 : end] = NEVER
        store.top_logp[begin + prompt - 1 : end, :few] = top.values.cpu().numpy()
