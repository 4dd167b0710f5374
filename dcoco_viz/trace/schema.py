"""The record of a cycle, and of a run of cycles: the one vocabulary of engine, metrics and page.

A cycle is one draft and one verify forward. Accounting, for every run:
    output_tokens = 1 (prefill) + sum of len(committed);  len(committed) = accepted + 1 except where clipped
    (EOS, stop string, token cap);  tau = sum of len(committed) / cycles  (pooled).
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from dcoco_viz.trace.pieces import join

LEVELS = ("off", "light", "full", "dense")


def _whole(text: str) -> str:
    """Surrogate pairs joined, and half a pair, which no tokenizer takes, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


Text = Annotated[str, AfterValidator(_whole)]


@dataclass(slots=True)
class Cycle:
    """One cycle. B = slots drafted, K = candidates a slot, n = slots submitted to the verifier.

    Arrays marked (full) are None at record level `light`. A plain decoding step (method `none`, or a step in
    which the engine had to stop drafting) is a cycle with n = 0 and no arrays. At record level `dense` every cycle has
    n = 0 and its candidates: the block was drafted, and kept from the verifier, so that the next position has one too.
    """

    request_id: str
    index: int  # 0, 1, ... within the run
    anchor_position: int  # position of the anchor (last committed token) in prompt + output
    anchor: int  # its token id
    method: str
    walk: str
    submitted: int  # n, 0..B
    accepted: int  # accepted length A, before clipping
    drafted: np.ndarray  # [n] int32, the token ids that were verified
    committed: np.ndarray  # [accepted + 1] int32, clipped; the last one is the bonus or replacement token
    draft_ms: float  # drafter forward + head + walk
    head_ms: float  # head + walk alone, a part of draft_ms
    verify_ms: float  # verifier forward + rejection sampling; shared by all requests of the batch
    at_ms: float = 0.0  # from the run's first token to the moment at which this cycle's tokens were committed
    clipped: bool = False  # EOS, a stop string or the cap cut `committed` short
    candidates: np.ndarray | None = None  # (full) [B, K] int32, token ids, best draft logit first
    logits: np.ndarray | None = None  # (full) [B, K] float32, draft logits
    lognorm: np.ndarray | None = None  # (full) [B] float32: log p(candidate) = logits - lognorm
    scores: np.ndarray | None = None  # (full) [B-1, K, K] float16, S_p(a, b); None without a head that scores pairs
    corrected: np.ndarray | None = None  # (full) [B, K] float32, the head's score of every candidate given what was
    #                                      chosen before it; None where `logits` and `scores` alone say it
    confidence: np.ndarray | None = None  # (full) [B] float32, the head's probability that the verifier accepts the
    #                                       slot, given those before it; None where it tells none
    ranks: np.ndarray | None = None  # (full) [B] int16, chosen rank a slot
    verifier: np.ndarray | None = None  # (full) [n + 1] int32, the verifier's argmax; its context is the true
    #                                     one only through the first rejection
    drafted_logprob: np.ndarray | None = None  # (full) [n] float32, log p_verifier(drafted token)

    @property
    def bonus(self) -> int | None:
        """The bonus or replacement token, or None when clipping removed it."""
        return int(self.committed[-1]) if len(self.committed) == self.accepted + 1 else None


class Turn(BaseModel):
    """One earlier message of a chat."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
    content: Text


class Parent(BaseModel):
    """The place in another run at which a branch left it."""

    model_config = ConfigDict(extra="forbid")

    run: str = Field(max_length=200, description="its id")
    cycle: int = Field(ge=0)
    slot: int = Field(ge=1, description="counted from 1; position anchor_position + slot")
    rank: int = Field(ge=0, description="of the candidate taken there")


class Request(BaseModel):
    """What a user asks for. Validation errors are sentences for the user."""

    model_config = ConfigDict(extra="forbid")

    prompt: Text = Field(description="user message; put through the chat template unless `raw`")
    system: Text = Field("", description="system prompt; empty: what the chat template does without one")
    history: list[Turn] = Field(default_factory=list, description="earlier messages of the chat, oldest first")
    continued: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        default_factory=list, description="token ids of an answer that has begun; decoding goes on behind them"
    )
    parent: Parent | None = Field(None, description="where a branch comes from")
    method: str = Field("dcoco", description="a name in METHODS, methods/__init__.py")
    walk: str = Field("greedy", description="rule that picks a path through the candidates")
    slots: int = Field(15, ge=1, le=15, description="drafted slots submitted to the verifier in each cycle")
    temperature: float = Field(0.0, ge=0.0, le=2.0)
    seed: int = Field(0, ge=0, le=2**31 - 1)
    max_tokens: int = Field(128, ge=1, le=4096)
    stop: list[Annotated[Text, Field(min_length=1)]] = Field(
        default_factory=list, description="strings that end the text"
    )
    raw: bool = Field(False, description="complete the prompt as it stands, without the chat template")
    record: str = Field(
        "full",
        pattern="^(off|light|full|dense)$",
        description="how much of a cycle is recorded; dense: draft at every position and submit nothing",
    )


@dataclass(slots=True)
class Run:
    """One request through one method: what was asked, what came out, and every cycle on the way."""

    id: str
    request: Request
    prompt_ids: list[int]  # all that the verifier read first: the templated prompt, then `request.continued`
    token_ids: list[int] = field(default_factory=list)  # output, prefill token first
    cycles: list[Cycle] = field(default_factory=list)
    pieces: dict[int, str] = field(default_factory=dict)  # token id -> text, see trace/pieces.py
    finish_reason: str | None = None  # stop, length, abort, error; None while running
    seconds: float = 0.0  # first token to last: decode time, so that a prompt's length does not count
    ttft_s: float = 0.0  # request to first token
    created: str = ""  # ISO 8601, UTC
    name: str = ""  # given by its user; empty: not named
    meta: dict[str, Any] = field(default_factory=dict)  # preset, versions, git revision, hardware, dtype

    @property
    def text(self) -> str:
        """The output as text, up to a stop string; special tokens left out, undecodable bytes as U+FFFD."""
        special = set(self.meta.get("special_ids", ()))
        text = join(self.pieces[token] for token in self.token_ids if token not in special)
        ends = [text.find(stop) for stop in self.request.stop]
        return text[: min((end for end in ends if end >= 0), default=len(text))]
