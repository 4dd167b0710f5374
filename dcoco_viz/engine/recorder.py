"""What the engine process keeps of each cycle until the front end fetches it.

A proposal made in one step is verified in the next: `proposed` holds it in between. A request that finishes or is
aborted leaves its last proposal behind, and `forget` drops it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np

from dcoco_viz.lattice.walk import Walk, parse


class Rule(NamedTuple):
    """How one request wants to be decoded; travels in `SamplingParams.extra_args`."""

    method: str
    drafter: str | None
    head: bool
    walk: Walk
    slots: int
    level: str

    @property
    def keeps_arrays(self) -> bool:
        """Whether candidates and scores are recorded."""
        return self.level in ("full", "dense")

    def pack(self) -> list[Any]:
        """As plain values, for the way into the engine process."""
        return list(self._replace(walk=self.walk.name))

    @classmethod
    def unpack(cls, packed: list[Any]) -> "Rule":
        """Inverse of `pack`."""
        rule = cls(*packed)
        return rule._replace(walk=parse(rule.walk))


@dataclass(slots=True)
class Proposal:
    """A drafted block on its way to the verifier. Arrays are None unless the rule keeps them."""

    draft_ms: float = 0.0
    head_ms: float = 0.0
    candidates: np.ndarray | None = None  # [B, K]
    logits: np.ndarray | None = None  # [B, K]
    lognorm: np.ndarray | None = None  # [B]
    scores: np.ndarray | None = None  # [B-1, K, K]
    corrected: np.ndarray | None = None  # [B, K]
    confidence: np.ndarray | None = None  # [B]
    ranks: np.ndarray | None = None  # [B]


class Verdict(NamedTuple):
    """What the verifier thought of the submitted tokens (record level `full`)."""

    verifier: np.ndarray  # [n + 1] argmax token ids
    drafted_logprob: np.ndarray  # [n]


class Recorder:
    """Cycles of all requests, in order, until drained."""

    def __init__(self) -> None:
        self.proposed: dict[str, Proposal] = {}
        self._cycles: list[dict[str, Any]] = []

    def forget(self, request_ids) -> None:
        """Drop proposals that nobody will verify any more."""
        for request_id in request_ids:
            self.proposed.pop(request_id, None)

    def add(self, **cycle: Any) -> None:
        """Keep one finished cycle: the fields of trace.schema.Cycle that the engine knows."""
        self._cycles.append(cycle)

    def drain(self) -> bytes:
        """Every cycle since the last drain, as one bytes object; see `unpack`."""
        packed = msgspec.msgpack.encode(self._cycles, enc_hook=_encode)
        self._cycles.clear()
        return packed


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    raise TypeError(f"cannot send a {type(value).__name__} to the front end")


def unpack(packed: bytes) -> list[dict[str, Any]]:
    """Inverse of `Recorder.drain`, in the front end."""
    cycles = msgspec.msgpack.decode(packed)
    for cycle in cycles:
        for key, value in cycle.items():
            if isinstance(value, dict):
                cycle[key] = np.frombuffer(value["data"], value["dtype"]).reshape(value["shape"])
    return cycles
