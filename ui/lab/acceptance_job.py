"""Acceptance measured with the loaded pair, in a thread of its own: it waits for its turn and can
be stopped. Knows no page."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sequoia import Pair, SamplingParams, SequoiaError
from sequoia.algorithm.progress import Progress
from sequoia.measuring.acceptance import CountedAcceptance, count_acceptance
from sequoia.measuring.acceptance_by_level import counting_tree
from sequoia.measuring.acceptance_teacher_forced import force_acceptance
from ui.serving.fair_queue import Cancelled
from ui.serving.job import Job
from ui.serving.model_host import ModelHost

Way = Callable[[Pair, Sequence[str], SamplingParams, Progress], CountedAcceptance]
RANKS = 16
REPORT_SECONDS = 0.1  # seconds between two tallies
# below the first children of the root, where levels are counted
WIDTH = 3
LEVELS = 5


def _while_decoding(
    pair: Pair, prompts: Sequence[str], params: SamplingParams, progress: Progress
) -> CountedAcceptance:
    return count_acceptance(pair, prompts, params, ranks=_ranks(pair), progress=progress)


def _by_level(
    pair: Pair, prompts: Sequence[str], params: SamplingParams, progress: Progress
) -> CountedAcceptance:
    tree = counting_tree(_ranks(pair), min(WIDTH, _ranks(pair)), LEVELS)
    return count_acceptance(pair, prompts, params, tree=tree, progress=progress)


def _forced(own: bool) -> Way:
    return lambda pair, prompts, params, progress: force_acceptance(
        pair, prompts, params, ranks=_ranks(pair), own=own, progress=progress
    )


def _ranks(pair: Pair) -> int:
    return min(RANKS, pair.target.vocab)


# Ways to measure, by the name the page asks for: what the page calls them, and the counting itself.
WAYS: dict[str, tuple[str, Way]] = {
    "decode": ("on-policy, at the root", _while_decoding),
    "levels": ("on-policy, by level", _by_level),
    "own": ("teacher-forced, target's own text", _forced(True)),
    "text": ("teacher-forced, the text as it stands", _forced(False)),
}


@dataclass(frozen=True)
class Tally:
    """How far it is: share done, 0 to 1, and words. `over`: it has ended; `error`: why, where it
    failed; `counted`: what came out of it."""

    share: float
    words: str
    over: bool = False
    error: str | None = None
    counted: CountedAcceptance | None = None


class AcceptanceJob(Job[Tally]):
    """Counts once, over `params.max_new_tokens` tokens of each prompt, for at most about
    `seconds`."""

    name = "count"
    if_it_fails = if_out_of_memory = "the vector that was there is kept"

    def __init__(
        self,
        model_host: ModelHost,
        prompts: Sequence[str],
        params: SamplingParams,
        seconds: float,
        way: str = "decode",
    ) -> None:
        super().__init__(model_host)
        self._prompts = tuple(prompts)
        self._params = params
        self._seconds = seconds
        self._way = WAYS[way][1]

    def work(self, steps: int | None) -> Tally:  # noqa: ARG002  it is done once
        self.post(self.notice("waiting for the models"))
        with self.turn() as pair:
            self._end = time.monotonic() + self._seconds
            self._last_report = 0.0
            self.post(Tally(0, f"measuring on {_prompts(len(self._prompts))}"))
            return Tally(
                1, "", True, counted=self._way(pair, self._prompts, self._params, self._progress)
            )

    def notice(self, words: str) -> Tally:
        return Tally(0, words)

    def stopped(self, words: str) -> Tally:
        return Tally(0, words, True)

    def failed(self, error: str) -> Tally:
        return Tally(0, "", True, error)

    def _progress(self, share: float) -> None:
        if self.halted():
            raise Cancelled
        now = time.monotonic()
        prompts = len(self._prompts)
        if share < 1 and now > self._end:
            raise OutOfTime(f"{self._seconds:g} s were up, the longest a count may take here")
        if now - self._last_report >= REPORT_SECONDS:
            self._last_report = now
            self.post(Tally(share, f"{int(share * prompts + 1e-9)} of {_prompts(prompts)} done"))


def _prompts(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"


class OutOfTime(SequoiaError):
    """The count took longer than a visitor may use."""
