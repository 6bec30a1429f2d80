"""The check of losslessness at temperatures above 0. Every lane with a draft makes many draws: each
is one step with a new seed, always at the same position of the same text. The first tokens of these
steps are counted, and the counts are compared with the target's distribution.

Lanes take turns, so that whenever the check ends, all have made about the same number of draws. The
check ends early if another run is waiting for the models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from sequoia.algorithm.progress import ShouldStop
from sequoia.decoding.tree_choice import TreeSource
from sequoia.exactness.same_distribution import FirstTokens, find_position, first_tokens
from sequoia.models.streamed_text import ending
from sequoia.saved_files.race_results import (
    MAX_CELLS,
    MAX_CONTEXT,
    Cell,
    Kind,
    Lossless,
    SampleCount,
    Why,
)
from ui.run.report import FinishedRun

DRAWS = 400  # of each lane
BATCH = 5  # draws of one lane before the next lane's turn
SECONDS = 20.0  # for all lanes together
_KINDS: dict[str, Kind] = {"fits": "fits", "poor": "poor", "differs": "bug", "too few": "none"}
_CONTEXT_TOKENS = 12
_APART = 1_000_000  # between the seeds of two lanes, so that no two lanes make the same draws
Round = Mapping[int, Lossless]


class DistributionCheck:
    """The check of one run. tree_of: takes a lane's index, and returns its tree or a function that
    makes a new TreeChoice for each draw. is_awaited: whether another run is waiting for the
    models."""

    def __init__(
        self,
        finished: FinishedRun,
        tree_of: Callable[[int], TreeSource],
        seconds: float,
        should_stop: ShouldStop,
        is_awaited: Callable[[], bool],
    ) -> None:
        self._finished = finished
        self._tree_of = tree_of
        self._should_stop = should_stop
        self._is_awaited = is_awaited
        self._why: Why = ""  # reason for ending before all draws are made
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        # the position is in the text of this lane
        self._lane = finished.base or 0
        self._position = find_position(
            finished.pair,
            finished.prompt,
            finished.tallies[self._lane].tokens,
            finished.params,
            self._over,
        )

    def _over(self) -> bool:
        """Whether the check must end now. Once true, it stays true."""
        self._why = self._why or self._reason_to_end()
        return bool(self._why)

    def _reason_to_end(self) -> Why:
        if self._should_stop():
            return "stopped"
        if self._is_awaited():
            return "other_run"
        return "time_limit" if time.monotonic() > self._end else ""

    def rounds(self) -> Iterator[Round]:
        """Draw in rounds, until all lanes with a draft have made DRAWS draws or the check must end.
        Yields the results so far after each round, by lane index. If DRAWS draws cannot show a
        difference at this position, no draws are made, and every result says why."""
        lanes = [i for i, lane in enumerate(self._finished.lanes) if not lane.is_plain]
        if not self._position.can_differ(DRAWS):
            yield dict.fromkeys(lanes, self._blind())
            return
        drawing = {i: self._draws(i) for i in lanes}
        found = {i: FirstTokens(self._position.distribution) for i in lanes}
        while True:
            for i, draws in drawing.items():
                found[i] = self._one_batch(draws, found[i])
            going = not self._over() and any(one.draws < DRAWS for one in found.values())
            yield {i: self._result(one, going) for i, one in found.items()}
            if not going:
                return

    def _one_batch(self, draws: Iterator[FirstTokens], found: FirstTokens) -> FirstTokens:
        """`found` with up to BATCH more draws of a lane. A single draw may take seconds, so the
        check can also end between two draws."""
        for _ in range(BATCH):
            if self._over():
                break
            found = next(draws, found)
        return found

    def _draws(self, i: int) -> Iterator[FirstTokens]:
        """The counts of lane i after each of its draws."""
        finished = self._finished
        params = finished.params.further((i + 1) * _APART)
        return first_tokens(
            finished.pair_of(i),
            finished.prompt,
            params,
            self._tree_of(i),
            finished.lanes[i].verifier,
            self._position,
        )

    def _result(self, found: FirstTokens, going: bool) -> Lossless:
        return Lossless(
            _KINDS[found.verdict],
            "measured",
            p_value=found.fit.p_value,
            count=self._count(found, going),
            why="" if going or found.draws >= DRAWS else self._why,
        )

    def _blind(self) -> Lossless:
        """The result for a position at which DRAWS draws cannot show a difference."""
        count = self._count(FirstTokens(self._position.distribution), going=False)
        return Lossless("blind", "measured", count=count, why=self._why)

    def _count(self, found: FirstTokens, going: bool) -> SampleCount:
        position = self._position
        pair = self._finished.pair
        ids = [*pair.encode(self._finished.prompt), *position.common]
        square, difference = found.fit.statistic, found.detectable_difference
        return SampleCount(
            draws=found.draws,
            wanted=DRAWS,
            going=going,
            limit=max(self._seconds, 0.0),
            lane=self._lane,
            position=len(position.common),
            looked=position.looked,
            bits=position.bits,
            context=ending(pair.tokenizer, ids, _CONTEXT_TOKENS)[-MAX_CONTEXT:],
            freedom=found.fit.freedom,
            cells=tuple(
                Cell(
                    None if cell.token is None else pair.pieces.of(cell.token),
                    cell.more,
                    cell.share,
                    cell.seen,
                )
                for cell in found.cells[:MAX_CELLS]
            ),
            statistic=None if square is None else min(square, 1e12),
            detectable_difference=None if difference is None else min(difference, 1.0),
        )
