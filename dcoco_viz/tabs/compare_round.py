"""The requests of a comparison: in turn, as often as asked, and what came of them so far."""

from typing import Any

from dcoco_viz.components.compared import Entry, names
from dcoco_viz.tabs import ask
from dcoco_viz.trace.schema import Request, Run

WARM_TOKENS = 6


class Round:
    """Every entry decodes the same question `repeat` times: A B A B, so that what drifts hits all alike."""

    def __init__(self, asked: dict[str, Any], ways: list[dict[str, Any]], repeat: int):
        """
        Args:
            asked: ask.FIELDS and their values.
            ways: method, walk and slots of each entry.

        Raises:
            ValueError: one plain sentence about what is wrong.
        """
        requests = ask.requests(asked, ways)
        self.requests: list[Request] = requests * repeat
        self.warming = [
            request.model_copy(update={"record": "off", "max_tokens": min(WARM_TOKENS, request.max_tokens)})
            for request in requests
        ]
        self._names = [name["short"] for name in names([Entry([Run("", request, [])]) for request in requests])]

    def name(self, number: int) -> str:
        """What the entry of request `number`, from 0, is called."""
        return self._names[number % len(self._names)]

    def entries(self, runs: list[Run]) -> list[Entry]:
        """These runs, made in the order of `requests`, by entry; what has no token yet is left out."""
        n = len(self._names)
        found = [[run for run in runs[i::n] if run.token_ids] for i in range(n)]
        return [Entry(some) for some in found if some]
