"""What every number is called, how it is computed, and what it means in one line: the page's tooltips."""

from typing import NamedTuple


class Definition(NamedTuple):
    label: str
    formula: str
    text: str


DEFINITIONS: dict[str, Definition] = {
    "tau": Definition(
        "τ",
        "tokens committed by cycles / cycles",
        "Tokens a cycle yields, the verifier's own bonus or replacement token included; the prefill token "
        "and tokens past the end of the text are not counted.",
    ),
    "accepted": Definition(
        "accepted length",
        "A = length of the longest accepted prefix of the block",
        "Drafted tokens that the verifier took, counted from the left up to the first one it refused.",
    ),
    "cycles": Definition("cycles", "count", "One cycle is one draft and one verifier forward."),
    "slots": Definition("slots", "n ≤ B", "Drafted tokens submitted to the verifier in each cycle."),
    "output_tokens": Definition(
        "output tokens",
        "1 (prefill) + sum of committed tokens",
        "Tokens of the answer; the first one comes with the reading of the prompt.",
    ),
    "coverage": Definition(
        "coverage@k",
        "slots whose top k hold the truth / slots with a known truth",
        "Share of drafted slots whose k best candidates hold the token that was finally committed there.",
    ),
    "top1": Definition(
        "top-1 prefix",
        "mean length of the argmax path that agrees with the text",
        "How far the drafter's first choices would be accepted on their own.",
    ),
    "selected": Definition(
        "selected prefix",
        "mean length of the chosen path that agrees with the text",
        "How far the chosen path is right. Above the top-1 prefix, the corrector gains; below it, it loses.",
    ),
    "oracle": Definition(
        "oracle prefix",
        "mean length of the best path in the K × B pool",
        "How far a perfect choice among the candidates would get. What it lacks to B is lost by coverage.",
    ),
    "tokens_per_second": Definition(
        "tok/s",
        "(output tokens − 1) / seconds from first token to last",
        "Decode speed of this one request; reading the prompt does not count.",
    ),
    "speedup": Definition(
        "speed-up",
        "tok/s / tok/s of method none on the same prompt",
        "How many times faster than decoding without a draft.",
    ),
    "seconds": Definition(
        "decode time", "last token − first token", "Seconds from the first token to the last."
    ),
    "ttft_s": Definition(
        "time to first token", "first token − request", "Seconds from the request to its first token."
    ),
    "draft_ms": Definition(
        "draft",
        "median over cycles that drafted",
        "Milliseconds for the drafter's forward, the corrector and the walk.",
    ),
    "head_ms": Definition(
        "head",
        "median over cycles that drafted",
        "Milliseconds for the corrector and the walk alone; a part of the draft.",
    ),
    "verify_ms": Definition(
        "verify",
        "median over cycles",
        "Milliseconds for the verifier's forward and the accept rule; requests of one batch share it.",
    ),
    "score": Definition(
        "transition score",
        "S(a, b) = draft logit of b + correction",
        "How well candidate b of the next slot follows candidate a of this one; the walk takes the best b.",
    ),
    "probability": Definition(
        "draft probability",
        "exp(logit − log-normaliser)",
        "What the drafter gives a candidate at its slot, before any correction.",
    ),
}
