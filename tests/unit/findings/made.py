"""Tiny results, written by hand."""

import json
from pathlib import Path


def way(tau: float, top1: float = 0.5, selected: float = 0.5, oracle: float = 1.5, sources=None) -> dict:
    """Figures of one way: two slots, and an interval of tau ± 0.1."""
    near = {"tau": tau, "interval": [tau - 0.1, tau + 0.1]}
    return {
        "prompts": 4,
        "pooled": near,
        "without_loop_tokens": near,
        "by_source": sources or {"gsm8k": near, "chat": near},
        "coverage_by_slot": {"1": [0.6, 0.2], "16": [0.8, 0.7]},
        "prefix": {"top1": top1, "selected": selected, "oracle": oracle, "helped": 0.25, "harmed": 0.125},
    }


def gap(tau: float, low: float, high: float) -> dict:
    part = {"tau": tau, "interval": [low, high]}
    return {"pooled": part, "without_loop_tokens": part}


def results(name: str, figures: dict, difference: dict | None = None) -> dict:
    return {
        "name": name,
        "verifier": "Tiny",
        "verifier_sha256": "0123456789abcdef" * 4,
        "data": {"file": "/somewhere/data.parquet", "sequences": 1234, "response_tokens": 56789},
        "training": {
            "shared_steps": 380,
            "branch_steps": 110,
            "response_tokens_seen": 612447,
            "seed": 42,
            "precision": "float32",
        },
        "held_out": {"prompts": 4},
        "temperature": 0,
        "figures": figures,
        "difference": difference or {},
    }


def write(folder: Path, *files: dict) -> Path:
    for file in files:
        (folder / f"{file['name']}.json").write_text(json.dumps(file))
    return folder
