"""From a recipe and a data file to what a run or a measurement needs: verifier, features, vocabularies."""

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from dcoco_viz import verifier
from dcoco_viz.train import data, features, hardware, objective
from dcoco_viz.train.recipe import AUTO, Recipe

FEATURES = 4  # verifier layers that a drafter reads, where the recipe names none


@dataclass
class Inputs:
    """The verifier of a recipe together with one data file.

    Raises (on use):
        data.DataError: the file cannot be used, or has too little in it to train on.
        verifier.VerifierError: the embedded verifier cannot be prepared.
        OSError: no room for the features, or no such verifier.
    """

    asked: Recipe
    path: Path
    say: Callable[[str], None]

    @cached_property
    def recipe(self) -> Recipe:
        """As asked for, with what depends on verifier and data filled in."""
        layers, mask = self.asked.target_layer_ids, self.asked.mask_token_id
        last = self.model.config.num_hidden_layers - 1
        layers = spread(last + 1) if layers == AUTO else layers
        if max(layers) >= last:
            raise data.DataError(
                f"target_layer_ids may be 0 to {last - 1} for this verifier: the state after its last layer is not the "
                "same to trainer and engine"
            )
        return dataclasses.replace(
            self.asked,
            target_layer_ids=layers,
            mask_token_id=unused(self.examples, self.model.config.vocab_size) if mask == AUTO else mask,
        )

    @cached_property
    def folder(self) -> Path:
        """The verifier's folder."""
        return verifier.prepare(self.say) if self.asked.verifier == "embedded" else Path(self.asked.verifier)

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
        if self.asked.verifier == "embedded":
            return verifier.GGUF_SHA256
        return self.weights

    @cached_property
    def weights(self) -> str:
        """SHA-256 of the verifier's weights as they lie in its folder."""
        return verifier.fingerprint(self.folder)

    @cached_property
    def examples(self) -> list[data.Example]:
        data.check_author(self.path, self.weights)
        return data.read(self.path, self.model.config.vocab_size)

    @cached_property
    def stores(self) -> tuple[features.Store, features.Store]:
        """Features of the training examples (cut at loops) and of the held-out ones (whole)."""
        # a response of one token holds no anchor with a token behind it
        drafted = [e for e in self.examples if len(e.response_ids) > 1]
        if left := len(self.examples) - len(drafted):
            self.say(f"{left} response(s) of a single token left out: there is nothing to draft in them")
        training, held_out = data.split(drafted)
        if not training or not held_out:
            raise data.DataError(f"{self.path} has too few prompts: training and the held-out 5% both need some")
        labels = self.labels
        key = {
            "verifier": self.weights,
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


def spread(layers: int) -> tuple[int, ...]:
    """z-lab ids of FEATURES layers, evenly from the second to the third last (all but the last, where there are few).

    Never the last one: transformers gives its state behind the final norm, and an engine the state before.
    """
    first, last = (1, layers - 3) if layers > FEATURES + 3 else (0, max(0, layers - 2))
    return tuple(sorted({first + i * (last - first) // (FEATURES - 1) for i in range(FEATURES)}))


def unused(examples: list[data.Example], vocab_size: int) -> int:
    """The last token id that the data never holds: it can mark a slot that is yet to be drafted.

    Raises:
        DataError: every id occurs.
    """
    held = {token for e in examples for ids in (e.prompt_ids, e.response_ids) for token in ids}
    free = next((token for token in range(vocab_size - 1, -1, -1) if token not in held), None)
    if free is None:
        raise data.DataError("the data holds every token of the vocabulary: name a mask_token_id in the recipe")
    return free
