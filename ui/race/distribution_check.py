"""The running check at a temperature above 0: first tokens of all lanes against the target's law,
at one place of the text.

All lanes draw in turns, so that they are at the same count whenever the check ends. Knows
no thread and no page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sequoia import Tree, TreeChoice
from sequoia.exactness.same_distribution import (
    LEAST_BITS,
    MOST_PLACES,
    FirstTokens,
    TextPosition,
    find_position,
    first_tokens,
)
from sequoia.models.streamed_text import ending
from sequoia.saved_files.race_file import MAX_CELLS, MAX_CONTEXT, Result
from ui.race.report import FinishedRace, exactness_result

DRAWS = 400  # of each lane
BATCH = 5  # of a lane before the next one's turn
SECONDS = 20.0  # of all lanes together
_KINDS = {"fits": "law", "poor": "poor", "differs": "bug", "too few": "none"}
_CONTEXT_TOKENS = 12
_APART = 1_000_000  # between the seeds of two lanes; the draws of any two seeds differ
Round = Mapping[int, Result]


class DistributionCheck:
    """The check of one race. `tree_of(i)`: the tree of lane i, or what makes each
    draw's own TreeChoice."""

    def __init__(
        self,
        finished: FinishedRace,
        tree_of: Callable[[int], Tree | Callable[[], TreeChoice]],
        seconds: float,
        should_stop: Callable[[], bool],
    ) -> None:
        self._finished = finished
        self._tree_of = tree_of
        self._should_stop = should_stop
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        # whose text the place is in: the target's own where a lane decodes plainly
        self._lane = finished.base or 0
        self._position = find_position(
            finished.pair,
            finished.prompt,
            finished.tallies[self._lane].tokens,
            finished.params,
            self._over,
        )

    def _over(self) -> bool:
        """Whether the time is up or the visitor gone."""
        return self._should_stop() or time.monotonic() > self._end

    def rounds(self) -> Iterator[Round]:
        """A result for every lane that drafts, after each round of draws; the last one when all are
        drawn or it is over."""
        if not self._position.can_differ(DRAWS):
            yield {i: self._blind() for i in self._lanes}
            return
        drawing = {i: self._draws(i) for i in self._lanes}
        found = {i: FirstTokens(self._position.distribution) for i in self._lanes}
        while True:
            for i, draws in drawing.items():
                found[i] = self._some(draws, found[i])
            going = not self._over() and any(one.draws < DRAWS for one in found.values())
            yield {i: self._result(one, going) for i, one in found.items()}
            if not going:
                return

    def _some(self, draws: Iterator[FirstTokens], found: FirstTokens) -> FirstTokens:
        """A batch more of one lane's draws, as many as there is time for: one may take seconds."""
        for _ in range(BATCH):
            if self._over():
                break
            found = next(draws, found)
        return found

    @property
    def _lanes(self) -> list[int]:
        return [i for i, lane in enumerate(self._finished.lanes) if not lane.is_plain]

    def _draws(self, i: int) -> Iterator[FirstTokens]:
        finished = self._finished
        params = finished.params.further((i + 1) * _APART)  # no two lanes share their draws
        return first_tokens(
            finished.pair,
            finished.prompt,
            params,
            self._tree_of(i),
            finished.lanes[i].verifier,
            DRAWS,
            1,
            self._position,
        )

    def _result(self, found: FirstTokens, going: bool) -> Result:
        words = " ".join(
            filter(None, (found.sentence, "" if going or found.draws >= DRAWS else self._short()))
        )
        return exactness_result(
            _KINDS[found.verdict], words, p=found.p_value, count=self._count(found, going)
        )

    def _short(self) -> str:
        """Why there are fewer draws than were wanted."""
        return (
            "The check was stopped."
            if self._should_stop()
            else f"There was no time for all {DRAWS}: it has {self._seconds:g} s."
        )

    def _blind(self) -> Result:
        position = self._position
        why = "spread so thin over its tokens that draws do not meet"
        if position.bits < LEAST_BITS:
            where = (
                f"all of the first {position.looked} places"
                if position.looked > 1
                else "the one place there is"
            )
            why = f"nearly certain of one token at {where}, so that any draws agree with it"
        words = (
            f"First tokens would carry no information here: the target's law is {why} "
            f"({position.bits:.2g} bits of entropy at most). Try another temperature or prompt."
        )
        return exactness_result(
            "blind", words, count=self._count(FirstTokens(position.distribution), going=False)
        )

    def _count(self, found: FirstTokens, going: bool) -> dict[str, Any]:
        """Everything the page shows of the counts; see `sequoia.saved_files.race_file.counted`."""
        position = self._position
        pair = self._finished.pair
        ids = [*pair.encode(self._finished.prompt), *position.common]
        square = found.statistic
        return {
            "draws": found.draws,
            "wanted": DRAWS,
            "going": going,
            "at": len(position.common),
            "lane": self._lane,
            "bits": position.bits,
            "rule": _rule(position),
            "context": ending(pair.tokenizer, ids, _CONTEXT_TOKENS)[-MAX_CONTEXT:],
            "statistic": None if square is None else min(square, 1e12),
            "freedom": found.freedom,
            "sight": None
            if found.detectable_difference is None
            else min(found.detectable_difference, 1.0),
            "cells": [
                {
                    "text": None if cell.token is None else pair.piece(cell.token),
                    "more": cell.more,
                    "share": cell.share,
                    "seen": cell.seen,
                }
                for cell in found.cells[:MAX_CELLS]
            ],
        }


def _rule(position: TextPosition) -> str:
    """Why the place was chosen, in words."""
    least = f"{LEAST_BITS:g} bit of entropy, as a fair coin has"
    if position.bits >= LEAST_BITS:
        return (
            f"the first of the text where the target's law has at least {least}: "
            f"{position.bits:.1f} bits"
        )
    return (
        f"none of the first {position.looked} has {least} (at most {MOST_PLACES} are looked at), "
        f"so the one with most: {position.bits:.2g} bits"
    )
