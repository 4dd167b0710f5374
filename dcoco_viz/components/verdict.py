"""What is compared, and whether the texts are equal."""

from typing import Any

from dcoco_viz.components.compared import Entry
from dcoco_viz.components.view import View
from dcoco_viz.metrics.compare import differing, parting
from dcoco_viz.trace.schema import Run

WORDS = {"temperature": "temperature", "seed": "seed", "max_tokens": "max tokens", "stop": "stop strings"}
PLACES = {"preset": "preset", "dtype": "number format", "hardware": "hardware"}  # of Run.meta


class Verdict(View):
    """The question, the verdict on the texts, and what to mind; with no runs, what to do."""


def verdict(entries: list[Entry], hint: str) -> dict[str, Any]:
    """A value. Its texts are sentences; the prompt is as the user typed it.

    Args:
        hint: what stands there while there is nothing to compare.
    """
    if not entries:
        return {"hint": hint}
    runs = [run for entry in entries for run in entry.runs]
    request = entries[0].run.request
    differ = differing(runs)
    sign, sentence = _texts(runs, differ) if len(entries) > 1 else ("", "")
    return {
        "prompt": None if "prompt" in differ else request.prompt,
        "asked": "" if differ else f"T = {request.temperature:g}, at most {request.max_tokens} tokens",
        "sign": sign,
        "sentence": sentence,
        "notes": _notes(entries, differ),
        "alone": len(entries) == 1,
    }


def _texts(runs: list[Run], differ: list[str]) -> tuple[str, str]:
    """("=" or "≠" or "", sentence) on whether all runs gave the same text."""
    if differ:
        return "", ""
    part, greedy = parting(runs), runs[0].request.temperature == 0
    lengths = {len(run.token_ids) for run in runs}
    if part is None:
        how = f"{lengths.pop()} tokens" if len(lengths) == 1 else "as far as each of them got"
        why = ": at T = 0 no draft changes the text" if greedy else ""
        return "=", f"{'Both' if len(runs) == 2 else f'All {len(runs)}'} texts are equal token by token ({how}){why}."
    start = f"The texts differ from output token {part + 1} on"
    if not greedy:
        return "≠", f"{start}: every run draws for itself, from the same distribution."
    if {run.meta.get("dtype") for run in runs} == {"float32"}:
        return "≠", f"{start}. At T = 0 in float32 they must not, unless the verifier was all but tied there."
    return "≠", f"{start}: below float32, two tokens that are all but tied may fall either way."


def _notes(entries: list[Entry], differ: list[str]) -> list[str]:
    notes = []
    if "prompt" in differ:
        notes.append(
            "These runs answer different prompts. Their numbers stand beside each other, but they are not raced, not "
            "aligned, and no value is marked as the best."
        )
    elif differ:
        what = ", ".join(WORDS[name] for name in differ)
        notes.append(f"These runs were asked differently ({what}): no value is marked as the best.")
    places = [what for key, what in PLACES.items() if len({str(entry.run.meta.get(key)) for entry in entries}) > 1]
    if places:
        notes.append(f"They were not made in the same place ({', '.join(places)}): their times do not compare.")
    return notes
