"""A job that measures the acceptance rates of the loaded pair. Each job has its own thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from sequoia import Pair, SamplingParams, SequoiaError
from sequoia.algorithm.progress import Progress
from sequoia.measuring.acceptance_teacher_forced import teacher_forced_acceptance
from sequoia.measuring.counted_acceptance import CountedAcceptance, count_acceptance, counting_tree
from ui.serving.fair_queue import Demand
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost

Way = Callable[[Pair, Sequence[str], SamplingParams, Progress], CountedAcceptance]
RANKS = 16  # at most this many children of a node are counted
REPORT_SECONDS = 0.1  # least time between two reports from `_progress`
# width and number of levels of the tree for counting by level, see `counting_tree`
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
    return lambda pair, prompts, params, progress: teacher_forced_acceptance(
        pair, prompts, params, ranks=_ranks(pair), own=own, progress=progress
    )


def _ranks(pair: Pair) -> int:
    return min(RANKS, pair.target.vocab)


# Ways to measure acceptance, by the name that the browser sends: (label, function that measures).
WAYS: dict[str, tuple[str, Way]] = {
    "decode": ("while decoding, at the root only", _while_decoding),
    "levels": ("while decoding, at every level", _by_level),
    "own": ("without a tree, on the large model's own text", _forced(True)),
    "text": ("without a tree, on the given text", _forced(False)),
}


class AcceptanceJob(MeasurementJob):
    """Measures acceptance on `prompts` in one of the WAYS. Fails with OutOfTime if that takes
    longer than about `seconds`."""

    name = "measurement"
    if_it_fails = if_out_of_memory = "The previous acceptance vector is kept."

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
        self._kind, self._way = WAYS[way]
        self._decodes = way != "text"  # whether this way generates tokens

    def demand(self) -> Demand:
        tokens = len(self._prompts) * self._params.max_new_tokens
        return Demand(self._kind, tokens if self._decodes else 0, self._seconds)

    def measure(self, pair: Pair) -> CountedAcceptance:
        self._end = time.monotonic() + self._seconds
        self._last_report = 0.0
        self.report(0, f"measuring on {_prompts(len(self._prompts))}")
        return self._way(pair, self._prompts, self._params, self._progress)

    def _progress(self, share: float) -> None:
        self.raise_if_halted()
        now = time.monotonic()
        prompts = len(self._prompts)
        if share < 1 and now > self._end:
            raise OutOfTime(
                f"the measurement reached its time limit of {self._seconds:g} s; choose fewer "
                "prompts or a shorter text"
            )
        if now - self._last_report >= REPORT_SECONDS:
            self._last_report = now
            self.report(share, f"{int(share * prompts + 1e-9)} of {_prompts(prompts)} done")


def _prompts(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"


class OutOfTime(SequoiaError):
    """The measurement reached its time limit."""
