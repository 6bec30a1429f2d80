"""Refuses tokenizers that cannot be opened, or that are too slow on texts made to be hard. The test
runs in a process that can be killed (trial_worker.py)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from sequoia.errors import BadModel
from sequoia.library_errors import reason
from sequoia.models.chat.chat_template import MOST_CHARS
from sequoia.this_machine.worker_process import WorkerEnded, WorkerProcess

MOST_PIECES = 2**21
_START_SECONDS = 60.0
_OPEN_SECONDS = 60.0
_TRIAL_SECONDS = 10.0  # of computing; on a busy machine that takes longer
_BUSY = 10.0  # times as long
# Bytes of memory that a test may use in addition to what the process uses when it has started. A
# tokenizer with 260,000 tokens needs a tenth of this.
_MORE_BYTES = 3 * 1024**3
_SCRIPT = Path(__file__).with_name("trial_worker.py")
_ENVIRONMENT = {"TOKENIZERS_PARALLELISM": "false"}


class _Failed(Exception):
    """A tokenizer failed its test; the message says why."""


class _HighId(_Failed):
    """A token id is too high."""


def refuse_unopenable(tokenizer: str, title: str) -> None:
    """Raises BadModel if the `tokenizers` library cannot open a tokenizer within the limits of time
    and memory, or if a token id is too high. tokenizer: the text of a tokenizer.json."""
    _refuse(tokenizer, 0, title, "tokenizer.json cannot be opened")


def refuse_slow(tokenizer: str, title: str) -> None:
    """Raises BadModel as `refuse_unopenable` does, and also if the tokenizer is too slow, needs too
    much memory or fails on a hard text. tokenizer: the text of a tokenizer.json."""
    failure = f"tokenizer fails a stress test with texts of up to {MOST_CHARS:,} characters"
    _refuse(tokenizer, MOST_CHARS, title, failure)


def _refuse(tokenizer: str, length: int, title: str, failure: str) -> None:
    """Raises BadModel if `_try` fails. failure: how the message names the failure. (If a token id
    is too high, the message says that instead.)"""
    try:
        _try(tokenizer, length)
    except _HighId as problem:
        raise BadModel(f"{title}: its tokenizer {problem}") from None
    except _Failed as problem:
        raise BadModel(f"{title}: its {failure}: {problem}") from None


# Passed tests are cached. A pair has up to four: both tokenizers are tested before they are loaded
# and again after.
@lru_cache(maxsize=4)
def _try(tokenizer: str, length: int) -> None:
    """Open `tokenizer` in a separate process and, unless `length` is 0, encode and decode hard
    texts of up to `length` characters. Raises _Failed."""
    worker = WorkerProcess(_SCRIPT, _ENVIRONMENT)
    too_slow = f"it takes more than {_TRIAL_SECONDS:g} s"
    try:
        _receive(worker, _START_SECONDS, "its process does not start")
        worker.limit_memory(_MORE_BYTES)
        worker.send({"tokenizer": tokenizer, "length": length})
        last = _receive(worker, _OPEN_SECONDS, f"it takes more than {_OPEN_SECONDS:g} s")["last"]
        if last >= MOST_PIECES:
            raise _HighId(f"has a token with id {last:,}; ids must be below {MOST_PIECES:,}")
        if length:
            worker.limit_time(_TRIAL_SECONDS)
            _receive(worker, _BUSY * _TRIAL_SECONDS, too_slow)
    except WorkerEnded:
        if worker.took_too_long:
            raise _Failed(too_slow) from None
        raise _Failed("it takes too much memory, or crashes the library") from None
    finally:
        worker.end()


def _receive(worker: WorkerProcess, seconds: float, late: str) -> dict[str, Any]:
    """The worker's next answer. Raises _Failed with the worker's error, or with `late` if no answer
    comes within `seconds`. Raises WorkerEnded if the process has ended."""
    answer = worker.receive(seconds)
    if answer is None:
        raise _Failed(late)
    if "error" in answer:
        raise _Failed(_in_words(answer["error"]))
    return answer


def _in_words(error: str) -> str:
    if "retry-limit" in error:
        return "one of its patterns backtracks endlessly"
    return reason(ValueError(error))
