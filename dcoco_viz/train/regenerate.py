"""Training data in the verifier's own words: its greedy answers to prompts, or to prompts that it writes itself.

Every finished answer goes into a journal beside the output file at once, so that a run that was broken off, however,
goes on where it stopped.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from dcoco_viz.train.data import DataError, held_out, repeats
from dcoco_viz.train.prompts import Prompt

MARK = "\u2063dcoco\u2063"  # stands in for a user's words in the template; no prompt holds it
SELF = "self-instruct"
SHORTEST = 8  # characters of a self-written prompt
SAY_SECONDS = 10
SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("prompt", pa.string()),
        ("prompt_ids", pa.list_(pa.int32())),
        ("response_ids", pa.list_(pa.int32())),
        ("finish", pa.string()),  # stop or length
        ("loop", pa.int32()),  # where in the response the first repeated 16-gram starts; -1: nowhere
    ]
)


class Answers(Protocol):
    """What decodes: `engine.batch.Batch`."""

    def answers(self, prompts: Iterable[list[int]], *, max_tokens: int, temperature: float = 0.0, seed: int = 0): ...


class Template:
    """The verifier's chat template, thinking on or off where it knows that.

    Args:
        tokenizer: of the verifier.
        thinking: True or False; None leaves it to the template.

    Raises:
        DataError: the tokenizer has no template, or its template knows no thinking.
    """

    def __init__(self, tokenizer, thinking: bool | None = None):
        if not tokenizer.chat_template:
            raise DataError("the verifier's tokenizer has no chat template")
        if thinking is not None and "enable_thinking" not in tokenizer.chat_template:
            raise DataError("the verifier's chat template knows no thinking: leave out --thinking")
        self._tokenizer = tokenizer
        self._options: dict[str, Any] = {} if thinking is None else {"enable_thinking": thinking}

    def ids(self, text: str) -> list[int]:
        """The token ids that the verifier reads for a user's words."""
        messages = [{"role": "user", "content": text}]
        return self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=False, **self._options
        )

    def before_a_prompt(self) -> list[int]:
        """What stands before a user's words: continued from here, the verifier writes a prompt."""
        messages = [{"role": "user", "content": MARK}]
        text = self._tokenizer.apply_chat_template(messages, tokenize=False, **self._options)
        return self._tokenizer.encode(text.split(MARK)[0], add_special_tokens=False)


class Journal:
    """The finished rows of a run in a file of JSON lines; its first line says what the run was asked for.

    Raises:
        DataError: the file belongs to a run that was asked for something else.
    """

    def __init__(self, path: Path, asked: dict[str, Any]):
        self.rows: list[dict[str, Any]] = []
        whole = 0
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                try:
                    row = json.loads(line)
                except ValueError:
                    break
                if not line.endswith(b"\n"):
                    break  # the last one was being written when the run ended
                self.rows.append(row)
                whole += len(line)
        if self.rows and (was := self.rows.pop(0)) != asked:
            other = ", ".join(sorted(k for k in asked.keys() | was.keys() if asked.get(k) != was.get(k)))
            raise DataError(f"{path} belongs to a run with another {other}: finish that, or delete the file")
        self._file = path.open("r+b" if path.exists() else "wb")
        self._file.truncate(whole)
        self._file.seek(whole)
        if not whole:
            self._write(asked)

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row, whatever happens next."""
        self.rows.append(row)
        self._write(row)

    def _write(self, row: dict[str, Any]) -> None:
        self._file.write(json.dumps(row).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def regenerate(
    batch: Answers,
    template: Template,
    prompts: Iterable[Prompt],
    out: Path,
    *,
    asked: dict[str, Any],
    write: int = 0,
    max_tokens: int,
    limit: int,
    seed: int = 0,
    say: Callable[[str], None],
) -> dict[str, int]:
    """Answer prompts at T = 0 and write the training file.

    Args:
        batch: the verifier.
        prompts: in order; one that was there before, word for word, is left out.
        out: Parquet with SCHEMA's columns; `OUT.journal` beside it holds what is done until all is.
        asked: what the run depends on; goes into the file's metadata, and must agree when a run goes on.
        write: prompts the verifier is to write itself (at T = 1, from `seed`) before it answers them too.
        limit: longest prompt + answer, tokens; longer prompts are left out.
        say: takes a line of progress.

    Returns:
        Counts by name: rows, response_tokens, held_out, loops, left_out.

    Raises:
        DataError: the journal belongs to another run, or there is nothing to answer.
    """
    journal = Journal(out.with_name(out.name + ".journal"), asked)
    try:
        seen = {row["prompt"] for row in journal.rows if "response_ids" in row}
        if journal.rows:
            say(f"going on: {len(seen)} prompts are answered already")
        written = _self_written(batch, template, journal, write, max_tokens, seed, say) if write else []
        left_out, todo = 0, []
        for prompt in (*prompts, *written):
            if prompt.text in seen:
                continue
            seen.add(prompt.text)
            ids = template.ids(prompt.text)
            if len(ids) + max_tokens > limit:
                left_out += 1
                continue
            todo.append((prompt, ids))
        if left_out:
            say(f"{left_out} prompts left out: with {max_tokens} tokens of answer they exceed {limit} tokens")
        told = _Told(len(todo), say)
        for answer in batch.answers((ids for _, ids in todo), max_tokens=max_tokens):
            prompt, ids = todo[answer.number]
            told.one(len(answer.token_ids))
            if not answer.token_ids:
                continue
            marks = repeats(answer.token_ids)
            journal.add(
                {
                    "source": prompt.source,
                    "prompt": prompt.text,
                    "prompt_ids": ids,
                    "response_ids": answer.token_ids,
                    "finish": answer.finish,
                    "loop": marks.index(True) if True in marks else -1,
                }
            )
        rows = [row for row in journal.rows if "response_ids" in row]
        if not rows:
            raise DataError("there is no prompt to answer")
        # Answers come in as they finish: in the order of their prompts' hashes the file does not depend on that.
        rows.sort(key=lambda row: hashlib.sha256(row["prompt"].encode()).digest())
        _save(rows, out, asked)
    finally:
        journal.close()
    out.with_name(out.name + ".journal").unlink()
    return {
        "rows": len(rows),
        "response_tokens": sum(len(row["response_ids"]) for row in rows),
        "held_out": sum(held_out(row["prompt"]) for row in rows),
        "loops": sum(row["loop"] >= 0 for row in rows),
        "left_out": left_out,
    }


def _self_written(batch, template, journal: Journal, count: int, max_tokens: int, seed: int, say) -> list[Prompt]:
    """`count` different prompts in the verifier's own words, those in the journal first."""
    kept = dict.fromkeys(row["written"] for row in journal.rows if "written" in row)
    tried = max((row["number"] + 1 for row in journal.rows if "written" in row), default=0)
    start, last = template.before_a_prompt(), 0.0

    def endless() -> Iterator[list[int]]:
        while len(kept) < count:
            yield start

    if len(kept) < count:
        asking = batch.answers(endless(), max_tokens=max_tokens, temperature=1.0, seed=seed + tried)
        for done, answer in enumerate(asking, 1):
            text = answer.text.strip()
            if answer.finish == "stop" and len(text) >= SHORTEST and MARK not in text and text not in kept:
                kept[text] = None
                journal.add({"written": text, "number": tried + answer.number})
            if time.monotonic() - last > SAY_SECONDS:
                last = time.monotonic()
                say(f"self-instruct: {len(kept)}/{count} prompts, {done} tried")
            if len(kept) >= count:
                asking.close()
                break
            if done >= 50 and len(kept) * 20 < done:
                raise DataError(
                    f"only {len(kept)} of {done} self-written prompts can be used: this verifier hardly ends a user's "
                    "turn by itself; give it prompts"
                )
    return [Prompt(SELF, text) for text in list(kept)[:count]]


class _Told:
    """Tells how far the answers have come, every few seconds."""

    def __init__(self, total: int, say: Callable[[str], None]):
        self.total, self.say, self.done, self.tokens = total, say, 0, 0
        self.began = self.last = time.monotonic()

    def one(self, tokens: int) -> None:
        self.done, self.tokens, now = self.done + 1, self.tokens + tokens, time.monotonic()
        if now - self.last < SAY_SECONDS and self.done < self.total:
            return
        self.last, spent = now, max(now - self.began, 1e-6)
        left = spent / self.done * (self.total - self.done)
        self.say(f"answers {self.done}/{self.total}, {self.tokens / spent:.0f} tokens/s, {left / 60:.1f} min left")


def _save(rows: list[dict[str, Any]], out: Path, asked: dict[str, Any]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA.with_metadata({"dcoco_viz": json.dumps(asked)}))
    partial = out.with_name(out.name + ".part")
    pq.write_table(table, partial, compression="zstd")
    os.replace(partial, out)
