"""What every number is called, how it is computed, and what it means in one line: the page's tooltips."""

from typing import NamedTuple


class Definition(NamedTuple):
    label: str
    formula: str
    text: str
    paper: str = ""  # what the paper has of it, with its own models: a value to stand beside, never one of ours


DEFINITIONS: dict[str, Definition] = {
    "tau": Definition(
        "τ",
        "tokens committed by cycles / cycles",
        "Tokens a cycle yields, the verifier's own bonus or replacement token included; the prefill token "
        "and tokens past the end of the text are not counted.",
        paper="Qwen3-8B, mean of 10 suites, T = 0: DCOCO 4.985, Domino 4.613, DSpark 4.254, DFlash 3.913.",
    ),
    "accepted": Definition(
        "accepted length",
        "A = length of the longest accepted prefix of the block",
        "Drafted tokens that the verifier took, counted from the left up to the first one it refused.",
    ),
    "cycles": Definition("cycles", "count", "One cycle is one draft and one verifier forward."),
    "slots": Definition(
        "slots",
        "n ≤ B",
        "Drafted tokens submitted to the verifier in each cycle.",
        paper="Blocks of 16: the anchor and B = 15 drafted slots, K = 16 candidates each.",
    ),
    "output_tokens": Definition(
        "output tokens",
        "1 (prefill) + sum of committed tokens",
        "Tokens of the answer; the first one comes with the reading of the prompt.",
    ),
    "coverage": Definition(
        "coverage@k",
        "slots whose top k hold the truth / slots with a known truth",
        "Share of drafted slots whose k best candidates hold the token that was finally committed there.",
        paper="Qwen3-8B, mean over 15 slots: 0.400 at k = 1, 0.755 at k = 16; last slot 0.154 and 0.608.",
    ),
    "survival": Definition(
        "prefix survival",
        "P(prefix ≥ j) = blocks whose path agrees with the text for j slots or more / all blocks",
        "How long three paths stay right: the drafter's first choices, the chosen path, and the best path in the pool. "
        "The sum over the slots is the mean prefix. Slots past the end of the text count for no path.",
    ),
    "budget": Definition(
        "the budget of a block",
        "B = top-1 + (selected − top-1) + (oracle − selected) + (B − oracle), means over blocks",
        "Selected − top-1 is what the head gains, oracle − selected what ranking still loses, B − oracle what "
        "coverage loses, the slots past the end of the text included.",
    ),
    "acceptance": Definition(
        "acceptance by slot",
        "P(j accepted | 1 … j−1 accepted) = cycles that accepted j / cycles that submitted j and accepted 1 … j−1",
        "The verifier's own decisions, submitted slots only. From the start: over all cycles that submitted slot j.",
    ),
    "saveable": Definition(
        "saveable share",
        "slots whose truth has rank 2 … K / slots whose truth is known and not at rank 1",
        "Of the slots where the drafter's first choice is wrong, the share whose right token is in the pool, within "
        "a head's reach. The paper has 59% for the top 16.",
    ),
    "top1": Definition(
        "top-1 prefix",
        "mean length of the argmax path that agrees with the text",
        "How far the drafter's first choices would be accepted on their own.",
    ),
    "selected": Definition(
        "selected prefix",
        "mean length of the chosen path that agrees with the text",
        "How far the chosen path is right. Above the top-1 prefix, the head gains; below it, it loses.",
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
        paper="Qwen3-8B, mean of 10 suites, T = 0, one request at a time on a B200: DCOCO 959.7, Domino 839.3, "
        "DFlash 783.1, DSpark 765.6.",
    ),
    "speedup": Definition(
        "speed-up",
        "tok/s / tok/s of method none on the same prompt, of the same round where it was repeated",
        "How many times faster than decoding without a draft.",
        paper="Qwen3-8B, mean of 10 suites, T = 0, one request at a time: DCOCO 3.62, Domino 3.16, DFlash 2.95, "
        "DSpark 2.88.",
    ),
    "seconds": Definition("decode time", "last token − first token", "Seconds from the first token to the last."),
    "ttft_s": Definition(
        "time to first token", "first token − request", "Seconds from the request to its first token."
    ),
    "draft_ms": Definition(
        "draft",
        "median over cycles that drafted",
        "Milliseconds for the drafter's forward, the head and the walk.",
        paper="A whole cycle of DCOCO costs 3 to 4% more than one of DFlash.",
    ),
    "head_ms": Definition(
        "head",
        "median over cycles that drafted",
        "Milliseconds for the head alone, what chooses among the drafter's candidates, with the walk; a part of the "
        "draft.",
    ),
    "verify_ms": Definition(
        "verify",
        "median over cycles",
        "Milliseconds for the verifier's forward and the accept rule; requests of one batch share it.",
    ),
    "score": Definition(
        "S",
        "S(a, b) = base(b) + Δ(a, b)",
        "Score in logits: how well candidate b of a slot follows candidate a of the slot before. A grid has it for "
        "every a; a serial head (Domino, DSpark) has it for the a that it took, given all before it. The greedy walk "
        "takes the best b after the a that it took; other walks weigh whole paths.",
        paper="The corrector scores 14 × 16 × 16 = 3,584 transitions of a block at once.",
    ),
    "base": Definition(
        "base",
        "base(b) = draft logit of b",
        "What the drafter alone gives a candidate, before any correction; whatever stands in the slot before it.",
    ),
    "delta": Definition(
        "Δ",
        "Δ(a, b) = S(a, b) − base(b)",
        "What the head adds to candidate b when a stands before it, in logits. A constant added to all b after "
        "one a changes no choice of the greedy walk.",
    ),
    "probability": Definition(
        "draft probability",
        "exp(logit − log-normaliser)",
        "What the drafter gives a candidate at its slot, before any correction.",
    ),
    "verifier_logprob": Definition(
        "verifier log p",
        "log q(drafted token)",
        "Natural log of the probability that the verifier gave the drafted token when it checked the block; known for "
        "drafted tokens alone. Behind the first refused token it was computed after that token, so not after the text.",
    ),
    "norm": Definition(
        "norm",
        "held-out τ of the drafter's card, at T = 0",
        "What acceptance to expect: measured on prompts kept out of the drafter's training, of the same kind as this "
        "prompt where that is known. After 20 cycles a run is far below it where τ − 1 < 0.35 (norm − 1), far above it "
        "where τ − 1 > 2.5 (norm − 1).",
    ),
    "loop": Definition(
        "repetition loop",
        "one n-gram (n ≤ 512) ≥ 3 times in a row, over ≥ 24 tokens",
        "A stretch in which the text repeats itself. Loops are easy to draft, so that they raise τ and tok/s.",
    ),
    "cycle_ms": Definition(
        "cycle",
        "median over cycles of draft + verify",
        "Milliseconds of a cycle; the engine's own work between two cycles is not in it.",
    ),
    "histogram": Definition(
        "accepted lengths",
        "cycles that accepted 0, 1, ... tokens; bars: their share",
        "How often the verifier took so many drafted tokens, before the end of the text clips any; cycles without a "
        "draft are left out.",
    ),
    "race": Definition(
        "race",
        "t = 0 is each run's own first token",
        "Every token appears as long after its run's first token as it was committed while it was decoded.",
    ),
    "repeats": Definition(
        "repeats",
        "the median, under it smallest – largest",
        "The same request decoded again, in turn with the others; the race, the histogram and the tokens are those "
        "of the run with the median decode time.",
    ),
    "drafted_alone": Definition(
        "drafted by one alone",
        "output tokens that this run accepted from a draft, and no other run did",
        "Where the drafts part: the others got this token from the verifier, at the end of a cycle.",
    ),
    "gain": Definition(
        "gain",
        "selected prefix − top-1 prefix of the cycle",
        "Tokens by which the chosen path is accepted further than the same drafter's argmax would be; negative "
        "where it is accepted less far.",
    ),
    "changed": Definition(
        "cycles changed",
        "cycles with a rank ≠ 1 in the chosen path",
        "The head left the drafter's argmax somewhere.",
    ),
    "helped": Definition("helped", "cycles with gain > 0", "The change made the accepted prefix longer."),
    "harmed": Definition("harmed", "cycles with gain < 0", "The change made the accepted prefix shorter."),
    "neutral": Definition(
        "neutral", "changed − helped − harmed", "The change lies behind the first error of both "
        "paths, or puts one wrong token in the place of another."
    ),
    "rescue_rate": Definition(
        "rescue rate", "helped / cycles changed", "Of the changes, the share that made the accepted prefix longer."
    ),
    "harm_rate": Definition(
        "harm rate", "harmed / cycles changed", "Of the changes, the share that made the accepted prefix shorter."
    ),
    "slots_rescued": Definition(
        "slots rescued",
        "chosen = text ≠ argmax",
        "Slots that the head made right, wherever in the block; behind the first error they bring nothing.",
    ),
    "slots_harmed": Definition(
        "slots harmed",
        "argmax = text ≠ chosen",
        "Slots that the head made wrong, wherever in the block; behind the first error they cost nothing.",
    ),
    "replay_accepted": Definition(
        "accepted",
        "mean over recorded anchors of the submitted prefix that agrees with the text",
        "How far a walk would have come from the anchors that this run had. At T = 0 it is what verification would "
        "accept, cycle by cycle; another walk would have had other anchors, which is what a dense trace is for.",
    ),
    "replay_difference": Definition(
        "against the run's own",
        "mean accepted − mean accepted of the run's own walk, cycle by cycle",
        "Both walks on the same cycles, with the same K and slots; beside it in how many cycles it came further, "
        "less far, and equally far.",
    ),
    "replay_submitted": Definition(
        "slots submitted",
        "mean over recorded anchors of min(slots, the walk's own cut)",
        "Drafted tokens that would go to the verifier in each cycle.",
    ),
    "dense_tau": Definition(
        "τ (dense trace)",
        "tokens of the text after the first / cycles of the simulated run",
        "The run decoded again on paper: from one anchor to the next by what the walk would have got accepted there. "
        "It needs a proposal at every position of the text, a dense trace.",
    ),
    "estimated_tokens_per_second": Definition(
        "tok/s (estimate)",
        "1000 × committed tokens / sum of cycle ms at each cycle's own number of slots",
        "The simulated cycles at their measured cost. The walk itself is taken to cost what the run's did, and the "
        "engine's work between two cycles is left out.",
    ),
    "cycle_cost": Definition(
        "cycle cost",
        "median of draft + verify over cycles that submitted n slots",
        "From recorded runs of the same preset, number format, hardware and method; 0 slots is method none. Between "
        "two measured numbers of slots it is linear; beyond them nothing is said.",
    ),
    "path_sum": Definition(
        "sum of S",
        "S(k1, k2) + S(k2, k3) + … up to this slot",
        "What global-sum maximises over the whole block. Verification never sees it: it reads the block from the left "
        "and stops at the first error.",
    ),
}
