"""One test of losslessness, in its own thread. Independent of the page.

A test that is stopped or reaches its time limit still gets a verdict, if the samples of its last
report are enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sequoia import Pair
from sequoia.exactness.losslessness.comparison import Comparison
from sequoia.exactness.losslessness.losslessness_test import Findable, LosslessnessTest
from sequoia.exactness.losslessness.settings import PAIR, Setting
from ui.serving.fair_queue import Demand
from ui.serving.job import MeasurementJob, Report
from ui.serving.model_host import ModelHost

SECONDS_PER_REPORT = 0.4
BATCH = 10  # samples between two checks of the clock


@dataclass(frozen=True)
class Sampled:
    """A test with its counts so far. piece: returns the text of a token. It is None for a test on
    toy distributions."""

    test: LosslessnessTest
    findable: tuple[Findable, ...]
    comparison: Comparison
    piece: Callable[[int], str] | None


class LosslessJob(MeasurementJob):
    """Draws and counts the samples of `setting`. It stops about `seconds` after `measure` was
    called. This limit never cuts short the exact computations before the first sample."""

    name = "test"
    if_it_fails = "Nothing was decided."
    if_out_of_memory = "Choose a toy or a smaller pair."

    def __init__(self, model_host: ModelHost, setting: Setting, seconds: float) -> None:
        super().__init__(model_host)
        self._setting = setting
        self._seconds = seconds
        self._last: Report | None = None

    def demand(self) -> Demand:
        """The size is in samples, because all samples take about equally long."""
        where = self._setting.where
        return Demand(f"test of losslessness, {where}", self._setting.samples, self._seconds)

    def measure(self, pair: Pair) -> Sampled:
        """Run the test to its end, or to the time limit."""
        end = time.monotonic() + self._seconds
        self.report(0, "computing the large model's exact distribution")
        is_pair = self._setting.where == PAIR
        test = LosslessnessTest(self._setting, pair if is_pair else None)
        self.report(0, "computing which bugs this test would find")
        findable = test.findable()
        empty = Comparison(test.grouping, (0,) * len(test.cells.all))
        found = Sampled(test, findable, empty, pair.pieces.of if is_pair else None)
        for comparison in self._comparisons(test):
            found = replace(found, comparison=comparison)
            self._report_counts(found)
            if time.monotonic() > end:
                break
        return found

    def _comparisons(self, test: LosslessnessTest) -> Iterator[Comparison]:
        """The counts so far, about every SECONDS_PER_REPORT and after the last sample."""
        last = time.monotonic()
        for comparison in test.comparisons(BATCH):
            self.raise_if_halted()
            if comparison.is_complete or time.monotonic() - last >= SECONDS_PER_REPORT:
                yield comparison
                last = time.monotonic()

    def _report_counts(self, found: Sampled) -> None:
        share = found.comparison.draws / self._setting.samples
        self._share = share
        self._last = Report(share, "sampling", result=found)
        self.raise_if_halted()
        self.post(self._last)

    def stopped(self, words: str) -> Report:
        """The last report with counts, now marked as the end. If there is none, a report with
        `words` only."""
        if self._last is None:
            return super().stopped(words)
        return replace(self._last, words=words, over=True)
