"""Where every output token came from."""

from dcoco_viz.trace.schema import Run

ORIGINS = ("prefill", "draft", "corrected", "bonus", "plain")


def origins(run: Run) -> list[str]:
    """One origin for every token of `run.token_ids`.

    prefill    the first token, by the verifier as it read the prompt
    draft      accepted, and the drafter's argmax; at record level `light` every accepted token
    corrected  accepted, and not the drafter's argmax
    bonus      the verifier's own token at the end of a cycle, bonus or replacement
    plain      made without a draft, or not recorded
    """
    out = ["prefill"] if run.token_ids else []
    for cycle in run.cycles:
        kept = min(cycle.accepted, len(cycle.committed))
        ranks = [0] * kept if cycle.ranks is None else cycle.ranks[:kept].tolist()
        out += ["draft" if rank == 0 else "corrected" for rank in ranks]
        if kept < len(cycle.committed):
            out.append("bonus" if cycle.submitted else "plain")
    return out + ["plain"] * (len(run.token_ids) - len(out))
