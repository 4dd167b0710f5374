"""From a recipe and a data file to what a run or a measurement needs: verifier, features, vocabularies."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from dcoco_viz import verifier
from dcoco_viz.train import data, features, hardware, objective
from dcoco_viz.train.recipe import Recipe


@dataclass
class Inputs:
    """The verifier of a recipe together with one data file.

    Raises (on use):
        data.DataError: the file cannot be used, or has too little in it to train on.
        verifier.VerifierError: the embedded verifier cannot be prepared.
        OSError: no room for the features, or no such verifier.
    """

    recipe: Recipe
    path: Path
    say: Callable[[str], None]

    @cached_property
    def folder(self) -> Path:
        """The verifier's folder."""
        return verifier.prepare(self.say) if self.recipe.verifier == "embedded" else Path(self.recipe.verifier)

    @cached_property
    def model(self) -> torch.nn.Module:
        """The verifier, to compute features with."""
        from transformers import AutoModelForCausalLM

        where = hardware.device()
        loaded = AutoModelForCausalLM.from_pretrained(self.folder, dtype=hardware.fast_dtype())
        return loaded.to(where).eval().requires_grad_(False)

    @cached_property
    def sha256(self) -> str:
        """Of the embedded verifier's source file, or of the folder's weights."""
        if self.recipe.verifier == "embedded":
            return verifier.GGUF_SHA256
        return verifier.sha256(self.folder / "model.safetensors")

    @cached_property
    def examples(self) -> list[data.Example]:
        return data.read(self.path, self.model.config.vocab_size)

    @cached_property
    def stores(self) -> tuple[features.Store, features.Store]:
        """Features of the training examples (cut at loops) and of the held-out ones (whole)."""
        training, held_out = data.split(self.examples)
        if not training or not held_out:
            raise data.DataError(f"{self.path} has too few prompts: training and the held-out 5% both need some")
        labels = self.labels
        key = {
            "verifier": verifier.sha256(self.folder / "model.safetensors"),
            "layers": list(self.recipe.target_layer_ids),
            "labels": hashlib.sha256(labels.numpy().tobytes()).hexdigest(),
        }
        width = len(self.recipe.target_layer_ids) * self.model.config.hidden_size
        root = verifier.cache_dir()
        return tuple(features.Store(root, part, key, width) for part in (data.without_loops(training), held_out))

    @cached_property
    def labels(self) -> torch.Tensor:
        return features.label_tokens(self.examples, self.recipe.label_vocab)

    def extract(self, store: features.Store, tokens: int | None = None) -> int:
        """Fill a store; returns the sequences that may be read."""
        count = features.extract(
            store, self.model, self.recipe.target_layer_ids, self.labels, tokens=tokens, progress=self.say
        )
        store.open()
        return count

    @cached_property
    def embedding(self) -> torch.Tensor:
        return self.model.get_input_embeddings().weight.detach().float()

    @cached_property
    def head(self) -> torch.Tensor:
        """[V, d]; the embedding itself where the verifier ties them."""
        weight = self.model.get_output_embeddings().weight.detach()
        tied = weight.data_ptr() == self.model.get_input_embeddings().weight.data_ptr()
        return self.embedding if tied else weight.float()

    @cached_property
    def vocab(self) -> objective.Vocabulary:
        tokens = self.labels[: self.recipe.loss_vocab].to(self.head.device)
        return objective.vocabulary(self.embedding, self.head, tokens)
