"""A random verifier small enough to train against in a second, and text for it."""

from functools import cache

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from dcoco_viz.train import recipe
from dcoco_viz.train.data import Example
from dcoco_viz.train.features import Store, extract, label_tokens

LAYERS = (0, 2)
WIDTH = 2 * 32


@cache
def verifier() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=60,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        rope_parameters={"rope_type": "default", "rope_theta": 1e4},
        initializer_range=0.3,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).eval()
    model.generation_config.eos_token_id = None
    return model.requires_grad_(False)


@cache
def examples(model: LlamaForCausalLM, count: int = 10) -> list[Example]:
    """Random prompts and the model's own greedy answers, of different lengths."""
    rng, rows = torch.Generator().manual_seed(1), []
    for i in range(count):
        prompt = torch.randint(2, 60, (1, 5 + i % 3), generator=rng)
        ids = model.generate(prompt, max_new_tokens=18 + 2 * i, do_sample=False)
        rows.append(Example("ab"[i % 2], f"prompt {i}", prompt[0].tolist(), ids[0, prompt.shape[1] :].tolist()))
    return rows


def store(root, model: LlamaForCausalLM, rows: list[Example]) -> Store:
    made = Store(root, rows, {}, WIDTH)
    extract(made, model, LAYERS, label_tokens(rows, 60), progress=lambda _: None)
    return made.open()


def small_recipe(**changes) -> recipe.Recipe:
    fields = vars(recipe.load("smollm2-cpu")) | {
        "target_layer_ids": LAYERS,
        "mask_token_id": 1,
        "sequences": 4,
        "micro": 2,
        "anchors": 6,
        "shared_steps": 3,
        "branch_steps": 3,
        "warmup": 1,
    }
    return recipe.Recipe(**(fields | changes))
