"""Plain decoding of many prompts at once: what training data is written with."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from vllm import LLM, SamplingParams
from vllm.sampling_params import RequestOutputKind

from dcoco_viz.engine import preload


class Answer(NamedTuple):
    """One decoded answer; `number` is the place of its prompt among those that were given."""

    number: int
    token_ids: list[int]
    finish: str  # stop or length
    text: str  # without special tokens


class Batch:
    """A verifier that decodes many prompts side by side, without speculation.

    Args:
        model: folder or hub id.
        dtype: float32 or bfloat16.
        limit: longest prompt + answer, tokens.
        at_once: prompts that are decoded side by side.
        kv_cache_gib: GiB of keys and values; where they do not suffice, prompts wait for each other.
    """

    def __init__(self, model: str, *, dtype: str, limit: int, at_once: int, kv_cache_gib: float):
        self.at_once = at_once
        self._engine = LLM(
            model=model,
            dtype=dtype,
            max_model_len=limit,
            max_num_seqs=at_once,
            kv_cache_memory_bytes=int(kv_cache_gib * 2**30),
            enforce_eager=preload.is_cpu_build(),
        ).llm_engine

    def answers(
        self, prompts: Iterable[list[int]], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Iterator[Answer]:
        """Answers as they are finished, in no particular order; closing the iterator aborts the others.

        Args:
            prompts: token ids, each with room for `max_tokens` more; read only as far ahead as keeps the batch full.
            seed: of the first prompt, and one more with every prompt; without meaning at temperature 0.
        """
        waiting, under_way = enumerate(prompts), {}
        try:
            while True:
                for number, ids in islice(waiting, 2 * self.at_once - len(under_way)):
                    params = SamplingParams(
                        temperature=temperature,
                        seed=seed + number if temperature else None,
                        max_tokens=max_tokens,
                        output_kind=RequestOutputKind.FINAL_ONLY,
                    )
                    self._engine.add_request(str(number), {"prompt_token_ids": ids}, params)
                    under_way[str(number)] = number
                if not under_way:
                    return
                for done in self._engine.step():
                    out = done.outputs[0]
                    yield Answer(under_way.pop(done.request_id), list(out.token_ids), out.finish_reason, out.text)
        finally:
            if under_way:
                self._engine.abort_request(list(under_way))

    def close(self) -> None:
        """End the engine's process."""
        self._engine.engine_core.shutdown()
