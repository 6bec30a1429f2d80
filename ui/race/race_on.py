"""A finished race that goes on in its own thread: the same lanes and settings, further prompts and
seeds, one run after another. Its runs are pooled with the race's.

Each run is a turn of its own, so other visitors' runs come in between. Stop keeps the runs that are
complete.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sequoia import Lane, Pair, Race, SequoiaError
from sequoia.errors import BadTrace
from sequoia.saved_files.pooled_runs import PooledLane, PooledRun
from ui.race import messages
from ui.race.expected import expected_of
from ui.race.messages import StoredRace
from ui.race.more_prompts import FurtherRun
from ui.race.pooled import next_runs
from ui.race.report import Tally
from ui.race.request import LaneRequest
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost, made_with
from ui.serving.run_job import Ended, Notice, RunJob
from ui.serving.sessions import Busy
from ui.serving.wait_times import Demand

TIME_LIMITS = (
    10  # all further runs of one series together take at most so many time limits of a run
)


class PairChanged(SequoiaError):
    """Further runs must be made with the models of the race."""


@dataclass(frozen=True)
class RunMade:
    """A further run is complete."""

    run: PooledRun


class RaceOnJob(RunJob):
    """Further runs of `race`, which was run here and has a verdict. Raises BadTrace if it cannot go
    on, and Busy if it does already."""

    name = "race"
    if_it_fails = "The runs so far are kept."
    recording: StoredRace | None

    def __init__(self, race: StoredRace, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host, limits)
        if race.continuation is None or race.verdict is None:
            raise BadTrace("this race was not run here; press Run for a new one")
        self._asked = race.continuation
        self._runs = next_runs(race.log(), race.verdict, self._asked.request)
        if not self._runs:
            raise BadTrace("all further runs of this race are made")
        if race.planned is not None:
            raise Busy("this race is going on already")
        self.recording = self._race = race
        self._is_over = False
        self._race.planned = self._pooled + len(self._runs)

    @property
    def is_replaceable(self) -> bool:
        """Whether the visitor's next run may end it: it has not sent its last message."""
        return not self._is_over

    @property
    def _pooled(self) -> int:
        """Runs so far, the race itself included."""
        return 1 + (len(self._race.pool.runs) if self._race.pool else 0)

    def _take(self, event: Any) -> None:
        super()._take(event)
        if isinstance(event, RunMade):
            self._race.add_run(event.run)
        elif isinstance(event, Ended):
            self._race.end_runs(complete=event.end == "length")
            self._is_over = True

    def _message(self, events: Sequence[Any]) -> str:  # noqa: ARG002  all are in the race by now
        return messages.pooled_message(self._race, self.error, self._notice, self._ahead)

    def demand(self) -> Demand:
        asked = self._asked.request
        tokens = len(asked.lanes) * asked.params.max_new_tokens
        return Demand("race that goes on", tokens, self._limits.seconds)

    def _so_far(self) -> str:
        return self._race.whole()

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:  # noqa: ARG002  further runs are made to their end
        end = time.monotonic() + TIME_LIMITS * self._limits.seconds
        self.post(Notice(None))  # a message at once, with the number of runs that are planned
        try:
            for further in self._runs:
                run = self._one_run(further)
                if run is None or time.monotonic() > end:
                    return self._interrupted()
                self.post(RunMade(run))
            return Ended("length")
        finally:
            self._race.planned = None  # also if the visitor has left and no message is read

    def _interrupted(self) -> Ended:
        if self.halted():
            return Ended("stopped")
        return Ended("time", notice=f"Stopped at the time limit. {self.if_it_fails}")

    def _one_run(self, further: FurtherRun) -> PooledRun | None:
        """One further run in a turn of its own; None if it did not reach its end."""
        with self.turn(self._asked.request.chat) as pair:
            if not made_with(self._race.meta, pair):
                raise PairChanged(
                    "other models are loaded now, so this race cannot go on; press Run for a new "
                    "one"
                )
            clock = self._asked.request.simulated_clock
            lanes = self._lanes(pair, further)
            race = Race(pair, further.prompt, further.params, lanes, clock)
            tallies = self._all_steps(race)
            if tallies is None:
                return None
            texts = [one.tokens for one in tallies]
            expected = expected_of(pair, race, texts, further.params) or [None] * len(texts)
        made = tuple(
            PooledLane(tuple(one.steps), tuple(one.tokens), of_lane)
            for one, of_lane in zip(tallies, expected, strict=True)
        )
        return PooledRun(further.prompt, further.params.seed, made, further.second_prompt)

    def _all_steps(self, race: Race) -> tuple[Tally, ...] | None:
        """The steps of each lane; None if the run was stopped or reached the time limit."""
        end = time.monotonic() + self._limits.seconds
        tallies = tuple(Tally() for _ in race.lanes)
        for decoder in race.decoders:  # as Race.prefill does, but Stop works between two lanes
            if not self.halted():
                decoder.prefill()
        while race.running:
            if self.halted() or time.monotonic() > end:
                return None
            lane, trace = race.step()
            tallies[lane].add(trace)
        return tallies

    def _lanes(self, pair: Pair, further: FurtherRun) -> list[Lane]:
        """The lanes of the race. A fixed tree stays as it is; what chooses a new tree at each step
        learns from its run, so each run has a new one."""
        request = self._asked.request
        first = request.lanes[0].on
        return [
            Lane(
                asked.name,
                tree or self._choice(pair, asked),
                asked.verifier,
                further.prompt if asked.on == first else further.second_prompt,
            )
            for asked, tree in zip(request.lanes, self._asked.trees, strict=True)
        ]

    def _choice(self, pair: Pair, asked: LaneRequest) -> Any:
        request = self._asked.request
        tree_request = asked.tree_request
        return tree_request.tree(
            pair,
            request.params,
            asked.verifier,
            request.prompt_of(asked),
            request.simulated_clock,
        ).tree
