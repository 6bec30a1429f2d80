"""Makes further runs of a finished one, one after another in a thread of their own. They have the
lanes (the ways of decoding) and settings of the run, but other prompts or seeds. Their results are
pooled with it.

Each run takes its own turn in the queue, so other visitors' runs may come in between. Stop keeps
the runs that are complete.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sequoia import Lane, Pair, Race
from sequoia.errors import BadTrace
from sequoia.saved_files.race_file import MOST_RUNS, PooledLane, PooledRun
from ui.run.messages import StoredRun
from ui.run.pooled import FurtherRun, next_runs
from ui.run.report import Tally, expected_of, ran_to_end
from ui.serving.fair_queue import Busy, Demand
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost, made_with
from ui.serving.run_job import Ended, Notice, PairChanged, RunJob
from ui.shared.tree_request import ChosenTree

# No further run starts once the job has taken this many times the time limit of one run.
TIME_LIMITS = 10


@dataclass(frozen=True)
class RunMade:
    """A further run is complete."""

    run: PooledRun


class MoreRunsJob(RunJob):
    """Makes further runs of `run`. Raises BadTrace if the run is from a file, did not run to its
    end, has no verdict, or cannot have more runs. Raises Busy if further runs of this run are
    already being made."""

    if_it_fails = "The runs so far are kept."
    recording: StoredRun | None

    def __init__(self, run: StoredRun, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host, limits)
        if run.continuation is None or run.verdict is None:
            raise BadTrace(
                "this run was not made here or has no verdict, so it cannot go on; press Run for a "
                "new one"
            )
        if not ran_to_end(run.log()):
            raise BadTrace(
                "this run was stopped before its end, so it cannot go on; press Run for a new one"
            )
        self._asked = run.continuation
        self._runs = next_runs(run.log(), run.verdict, self._asked.request)
        if not self._runs:
            raise BadTrace(
                f"no further runs are possible: a run has at most {MOST_RUNS} runs, and at "
                "temperature 0 only one per prompt; press Run for a new one"
            )
        if run.planned is not None:
            raise Busy("further runs of this run are being made already")
        self.recording = self._stored = run
        self._stored.planned = self._pooled + len(self._runs)

    @property
    def is_replaceable(self) -> bool:
        return True

    @property
    def _pooled(self) -> int:
        """The number of runs so far, the run itself included."""
        return 1 + (len(self._stored.pool.runs) if self._stored.pool else 0)

    def _take(self, event: Any) -> None:
        super()._take(event)
        if isinstance(event, RunMade):
            self._stored.add_run(event.run)
        elif isinstance(event, Ended):
            self._stored.end_runs(complete=event.end == "length")

    def _message(self, events: Sequence[Any]) -> str:  # noqa: ARG002  the run recorded them
        return self.said(run=self._stored.name, **self._stored.judged)

    def demand(self) -> Demand:
        asked = self._asked.request
        tokens = len(asked.lanes) * asked.params.max_new_tokens
        return Demand("further run", tokens, self._limits.seconds)

    def _so_far(self) -> str:
        return self._stored.whole()

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:  # noqa: ARG002  further runs are not stepped
        end = time.monotonic() + TIME_LIMITS * self._limits.seconds
        self.post(Notice(None))  # makes a first message, with the number of planned runs
        try:
            for further in self._runs:
                # checked before a run, not after it, so that no complete run is discarded
                run = None if time.monotonic() > end else self._one_run(further)
                if run is None:
                    return self._interrupted()
                self.post(RunMade(run))
            return Ended("length")
        finally:
            # If the visitor has left, nobody reads the last event. Then `end_runs`, which also does
            # this, is not called.
            self._stored.planned = None

    def _interrupted(self) -> Ended:
        if self.halted():
            return Ended("stopped")
        return Ended("time", notice=f"Stopped at the time limit. {self.if_it_fails}")

    def _one_run(self, further: FurtherRun) -> PooledRun | None:
        """One further run; None if it was stopped or reached the time limit."""
        with self.turn(self._asked.request.chat) as pair:
            if not made_with(self._stored.meta, pair):
                raise PairChanged(
                    "other models are loaded now, so this run cannot go on; press Run for a new one"
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
            PooledLane(
                tuple(tokens for tokens, _ in one.steps),
                tuple(round(seconds, 7) for _, seconds in one.steps),
                tuple(one.tokens),
                of_lane,
            )
            for one, of_lane in zip(tallies, expected, strict=True)
        )
        return PooledRun(further.prompt, further.params.seed, made, further.second_prompt)

    def _all_steps(self, race: Race) -> tuple[Tally, ...] | None:
        """The tally of each lane; None if the run was stopped or reached the time limit."""
        end = time.monotonic() + self._limits.seconds
        tallies = tuple(Tally() for _ in race.lanes)
        for decoder in race.decoders:
            if not self.halted():
                decoder.prefill()
        while race.running and not (self.halted() or time.monotonic() > end):
            lane, trace = race.step()
            tallies[lane].add(trace)
        return None if race.running else tallies

    def _lanes(self, pair: Pair, further: FurtherRun) -> list[Lane]:
        """The lanes of one further run. Fixed trees are used again. Each run has new TreeChoices,
        because a TreeChoice learns from its run."""
        request = self._asked.request
        first = request.lanes[0].prompt_name
        lanes = []
        for asked, tree in zip(request.lanes, self._asked.trees, strict=True):
            chosen = ChosenTree(tree, "") if tree else request.tree(pair, asked)
            prompt = further.prompt if asked.prompt_name == first else further.second_prompt
            lanes.append(Lane(asked.name, chosen.tree, asked.verifier, prompt, chosen.pair))
        return lanes
