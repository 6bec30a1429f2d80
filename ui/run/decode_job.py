"""One run of one to four lanes in its own thread, and its messages. Lanes take turns, then the run
is analysed: where the time went, what to try, and whether the output is lossless.

A run can be made step by step. Stop pauses all lanes after the current step, and what there is so
far is analysed. The analysis is not part of any lane's decode time. Steps and analysis share one
time limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia import Acceptance, Lane, Pair, Race, Recorder, StepTrace, Tree
from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.decoding.tree_choice import TreeSource
from sequoia.measuring.hardware import floor_seconds
from sequoia.saved_files.race_file import LaneLog
from sequoia.saved_files.race_results import Lossless, Result, Why
from sequoia.saved_files.run_file import Run
from ui.run import distribution_check
from ui.run.distribution_check import DistributionCheck, Round
from ui.run.messages import Continuation, Recording
from ui.run.meta import lane_meta, shared_meta
from ui.run.plan import ChosenLane, plan_lanes
from ui.run.recordings import RunStore
from ui.run.report import FinishedRun, Tally, expected_of
from ui.run.request import LaneRequest, RunRequest
from ui.serving.fair_queue import Cancelled, Demand
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.run_job import Ended, Notice, PairChanged, RunJob

RESUMABLE = ("paused", "stopped")  # values of `Ended.end`


@dataclass(frozen=True)
class Started:
    """The trees are chosen; the lanes are about to read their prompts. prompts: the token ids of
    each lane's prompt. meta: the metadata of the run; each lane's log has the lane's own."""

    pair: Pair
    prompts: tuple[tuple[int, ...], ...]
    meta: Mapping[str, Any]
    lanes: tuple[LaneLog, ...]
    continuation: Continuation


@dataclass(frozen=True)
class Continued:
    """A paused run goes on. Posted before it waits for its turn."""


@dataclass(frozen=True)
class StepMade:
    """A lane has made a step."""

    lane: int
    trace: StepTrace


@dataclass(frozen=True)
class StepsEnded:
    """No step follows before the results. end: as in `Ended`. seconds: that the run took so far.
    expected: see `DecodeJob._expected`. meta: of the run, now complete."""

    end: str
    seconds: float
    expected: tuple[ExpectedSteps | None, ...] | None
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class CheckBegins:
    """Only the check of losslessness is left."""


@dataclass(frozen=True)
class ResultsSoFar:
    """The results of the analysis so far, one per lane."""

    results: tuple[Result | None, ...]


class DecodeJob(RunJob):
    """A run that is watched and recorded. It decodes in rounds; a round is at least one step of
    each running lane. `start` begins the run, or continues it if it was paused or stopped. A turn
    is the work of one `start`.

    analysing: whether the analysis after the last step is running. The check of losslessness for
    temperatures above 0 comes after it. checking: whether this check is running. When the check
    begins, the caller of `messages` may stop reading, and read the rest with another call.
    """

    recording: Recording | None

    def __init__(
        self, request: RunRequest, model_host: ModelHost, limits: Limits, run_store: RunStore
    ) -> None:
        super().__init__(model_host, limits)
        self.request = request
        self._run_store = run_store
        self.analysing = False
        self.checking = False
        self._end: str | None = None  # as in `Ended`; None while steps are made
        self._lanes_sent = False  # whether a message has described the lanes
        self._meta: dict[str, Any] = {}
        self._lanes: tuple[LaneRequest, ...] = ()  # requested lanes that plan_lanes kept
        self._acceptances: tuple[Acceptance | None, ...] = ()  # see `FinishedRun`
        self._tallies: tuple[Tally, ...] = ()
        self._waiting: set[int] = set()  # lanes that have not made a step in this round
        self._pair: Pair | None = None
        self._race: Race | None = None  # with its caches
        self._wanted_rounds: int | None = None  # in this turn; None: no limit
        self._emitted = 0  # tokens so far
        self._emitted_before = 0  # tokens before this turn
        self._seconds = 0.0  # of all rounds on this machine, whatever the run's clock
        self._turn_ends = 0.0  # time limit of this turn, on the monotonic clock

    @property
    def holding(self) -> bool:
        return self._race is not None and not self._released

    def free_caches(self) -> None:
        self._pair = self._race = None

    @property
    def is_replaceable(self) -> bool:
        return self.checking

    @property
    def in_line(self) -> bool:
        """Whether the run keeps its visitor from starting another. During the check of losslessness
        it does not: the check ends when another run is waiting."""
        return self.busy and not self.checking

    def demand(self) -> Demand:
        if self._wanted_rounds is not None:
            return Demand("run step", self._wanted_rounds, self._limits.seconds)
        checked = self.request.check and self.request.params.temperature > 0
        return Demand("checked run" if checked else "run", self._turn_tokens, self._limits.seconds)

    def share(self) -> float:
        done = self._emitted - self._emitted_before
        return done / self._turn_tokens if self._turn_tokens else 0.0

    @property
    def _turn_tokens(self) -> int:
        """The most tokens that this turn can add."""
        lanes = len(self._lanes or self.request.lanes)
        return lanes * self.request.params.max_new_tokens - self._emitted_before

    def _take(self, event: Any) -> None:
        super()._take(event)
        if isinstance(event, Started):
            self._record(event)
        elif isinstance(event, Continued):
            self._end = None
        elif isinstance(event, StepsEnded):
            self._end = event.end
            self.analysing = True
        elif isinstance(event, CheckBegins):
            self.checking = True
            self.analysing = False
        elif isinstance(event, Ended):
            self._end = self._end or event.end
            self.checking = self.analysing = False

    def _message(self, events: Sequence[Any]) -> str:
        recording = self.recording
        if recording is None:
            return self.said()
        fields = recording.add(
            (event.lane, event.trace) for event in events if isinstance(event, StepMade)
        )
        if not self._lanes_sent:
            fields |= {**recording.head, "stored": True}
            self._lanes_sent = True
        for event in events:
            if isinstance(event, Continued):
                fields |= recording.go_on()
            elif isinstance(event, ResultsSoFar):
                recording.results = event.results
                fields |= recording.analysis
            elif isinstance(event, StepsEnded):
                recording.meta = dict(event.meta)
                recording.expected = event.expected
                recording.seconds = event.seconds
                recording.judge()
                fields |= {"meta": recording.meta, **recording.judged}
        if self._end:
            fields |= {"end": self._end, "stopped": self._end in ("time", *RESUMABLE)}
        return self.said(run=recording.name, **fields, done=self._end is not None)

    def _so_far(self) -> str | None:
        recording = self.recording
        return recording and recording.so_far(done=self._end is not None)

    def _record(self, started: Started) -> None:
        self._notice = None
        recorders = [
            Recorder(started.pair, prompt, lane.run.meta)
            for prompt, lane in zip(started.prompts, started.lanes, strict=True)
        ]
        self.recording = Recording(started.meta, started.lanes, recorders)
        self.recording.continuation = started.continuation
        self.recording.most_nodes = self._limits.nodes
        self._run_store.put(self.recording)

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:
        self._wanted_rounds = steps
        self._emitted_before = self._emitted
        if self._race is not None:
            self.post(Continued())
        with self.turn(self.request.chat) as pair:
            if self._released or (self._pair and self._pair.target is not pair.target):
                raise PairChanged(
                    "models were loaded after this run paused, so it cannot continue; press Run "
                    "for a new one"
                )
            if self._race is None:
                self._race = self._begin(pair)
                self._pair = pair
            else:
                self.post(Notice(None))  # clears "Stopped. ..." and the place in the queue
            late = self._decode(self._race)
            finish = None if self._race.running else "length"
            end = finish or ("time" if late else "stopped" if self.halted() else "paused")
            stopped = "Stopped. Resume or Step to continue." if end == "stopped" else None
            last = self._conclude(pair, end, late or stopped)
        self._released |= end not in RESUMABLE
        return last

    def _decode(self, race: Race) -> str | None:
        """Decode until the wanted rounds are made or the run ends. Returns early if the run is
        stopped or reaches the time limit. Returns the message about the time limit if it kept the
        run from its end."""
        began = time.monotonic()
        self._turn_ends = began + self._limits.seconds
        self._waiting = {*race.running}
        rounds = 0
        while not (rounds == self._wanted_rounds or not race.running or self.halted()):
            rounds += self._step(race)
            if self._is_late:
                break
        self._seconds += time.monotonic() - began
        return self.overdue() if self._is_late and race.running else None

    def _step(self, race: Race) -> bool:
        """Make one step and post it. Returns whether it completes a round."""
        lane, trace = race.step()
        self._tallies[lane].add(trace)
        self._emitted += len(trace.emitted)
        self.post(StepMade(lane, trace))
        self._waiting.discard(lane)
        is_round = not self._waiting
        if is_round:
            self._waiting = {*race.running}
        return is_round

    @property
    def _is_late(self) -> bool:
        return time.monotonic() > self._turn_ends

    def _begin(self, pair: Pair) -> Race:
        """Choose the trees and read the prompts."""
        asked = self.request
        for prompt in asked.prompts:
            pair.require_room(prompt, asked.params.max_new_tokens)
        plan = plan_lanes(pair, asked, self._limits.nodes)
        lanes = [
            Lane(
                one.request.name,
                one.chosen.tree,
                one.request.verifier,
                asked.prompt_of(one.request),
                one.chosen.pair,
            )
            for one in plan.lanes
        ]
        # beside a step on a GPU, computing `StepTrace.residual_heads` would take too long
        has_heads = pair.target.device.type == "cpu"
        race = Race(pair, asked.prompt, asked.params, lanes, asked.simulated_clock, has_heads)
        logs = tuple(
            self._log_of(pair, lane, one) for lane, one in zip(lanes, plan.lanes, strict=True)
        )
        self._meta = {**shared_meta(pair, asked.prompt, asked.params, asked.clock), **plan.meta}
        if asked.second_prompt:
            self._meta["second_prompt"] = asked.second_prompt
        self._lanes = tuple(one.request for one in plan.lanes)
        self._acceptances = tuple(one.chosen.acceptance for one in plan.lanes)
        self._tallies = tuple(Tally() for _ in lanes)
        trees = tuple(lane.tree if isinstance(lane.tree, Tree) else None for lane in lanes)
        further = Continuation(replace(asked, lanes=self._lanes), trees)
        prompts = tuple(decoder.prompt for decoder in race.decoders)
        self.post(Started(pair, prompts, self._meta, logs, further))
        for decoder in race.decoders:
            if self.halted():
                raise Cancelled
            decoder.prefill()
        return race

    def _log_of(self, pair: Pair, lane: Lane, one: ChosenLane) -> LaneLog:
        """The log of a lane before its first step."""
        asked = self.request
        is_fixed = isinstance(lane.tree, Tree)
        most = len(lane.tree) if isinstance(lane.tree, Tree) else lane.tree.most
        meta = lane_meta(pair, asked, one.request, one.chosen)
        return LaneLog(
            lane.name,
            one.chosen.how,
            lane.verifier,
            lane.is_plain,
            most,
            not is_fixed,
            Run(meta, {}, ()),
            one.request.prompt_name,
            one.chosen.rule,
        )

    def _conclude(self, pair: Pair, end: str, notice: str | None) -> Ended:
        """Do what follows the steps of a turn. Returns the last event, with `end` and `notice`."""
        if end == "paused":
            return Ended(end)
        race = self._race
        assert race is not None
        began = time.monotonic()
        expected = self._expected(pair, race)
        self._seconds += time.monotonic() - began
        if self.request.clock is None:
            self._meta["floor_seconds"] = floor_seconds(pair)
        self.post(StepsEnded(end, self._seconds, expected, self._meta))
        lanes = race.lanes
        race = None
        if end not in RESUMABLE:
            self.free_caches()  # before the analysis
        if not self._released:  # unless the visitor has left
            self._judge(
                FinishedRun(
                    pair,
                    self.request.prompt,
                    self.request.params,
                    lanes,
                    self._tallies,
                    self._acceptances,
                    self.request.simulated_clock,
                    expected,
                )
            )
        return Ended(end, notice=notice)

    def _expected(self, pair: Pair, race: Race) -> tuple[ExpectedSteps | None, ...] | None:
        """The expected steps of each lane (see `expected_of`). None instead of the tuple at
        temperature 0, or if the run must end without them."""
        if race.running or self._released or self._must_end():
            return None
        if self.request.params.temperature:
            self.post(Notice("Comparing the lanes at the same positions of their texts"))
        texts = [tally.tokens for tally in self._tallies]
        return expected_of(pair, race, texts, self.request.params)

    def _must_end(self) -> bool:
        """Whether the run was asked to stop, its page was closed, or its time limit is reached."""
        return self.halted() or self._is_late

    # -- after the run, not part of any lane's decode time -----------------------------------------

    def _judge(self, finished: FinishedRun) -> None:
        """Analyse the run. Post the results so far after each part of the analysis."""
        self.post(Notice("Analysing where the time went"))
        results: list[Result | None] = [None] * len(finished.lanes)
        for places, part in finished.by_prompt():
            for place, result in zip(places, part.timed(), strict=True):
                results[place] = result
        self.post(ResultsSoFar(tuple(results)))
        greedy = finished.params.temperature == 0
        self.post(Notice("Comparing the texts with plain decoding" if greedy else None))
        for found in self._texts(finished) if greedy else self._check_distributions(finished):
            results = [
                replace(result or Result(), lossless=found[i]) if i in found else result
                for i, result in enumerate(results)
            ]
            self.post(ResultsSoFar(tuple(results)))

    def _texts(self, finished: FinishedRun) -> Iterator[Round]:
        """Compare each lane's text with that of plain decoding, at temperature 0."""
        for places, part in finished.by_prompt():
            yield from self._texts_of(part, places)

    def _texts_of(self, part: FinishedRun, places: Sequence[int]) -> Iterator[Round]:
        """`_texts` for the lanes on one prompt: `part` is their race, `places` are their indexes in
        the finished run."""
        tokens = None
        for tokens in part.plain_tokens():
            if part.base is None and self._must_end():
                tokens = None
                break
        for lane, lossless in part.exactness_results(tokens):
            yield {places[lane]: lossless}

    def _check_distributions(self, finished: FinishedRun) -> Iterator[Round]:
        """Run the check of losslessness for temperatures above 0. Yields its results so far after
        each round of draws. If it is not made, yields results that say why."""
        awaited = self._model_host.queue.awaited
        is_single = not self.request.second_prompt
        if not (self.request.check and is_single) or self._must_end() or awaited:
            unchecked = Lossless("none", "measured", why=self._why_unchecked(awaited))
            yield {i: unchecked for i, lane in enumerate(finished.lanes) if not lane.is_plain}
            return
        self.post(CheckBegins())
        self.post(Notice("Checking losslessness: choosing a position in the text"))
        seconds = min(distribution_check.SECONDS, self._turn_ends - time.monotonic())
        check = DistributionCheck(
            finished,
            lambda i: self._tree(finished, i),
            seconds,
            self.halted,
            lambda: self._model_host.queue.awaited,
        )
        self.post(
            Notice(
                f"Checking losslessness: sampling {distribution_check.DRAWS} first tokens per lane "
                "(Stop to skip)"
            )
        )
        yield from check.rounds()

    def _why_unchecked(self, awaited: bool) -> Why:
        """Why the check is not run. awaited: whether another run is waiting for the models."""
        if self.request.second_prompt:
            return "two_prompts"
        if not self.request.check:
            return "not_requested"
        if self._is_late:
            return "time_limit"
        return "other_run" if awaited and not self.halted() else "stopped"

    def _tree(self, finished: FinishedRun, i: int) -> TreeSource:
        """The tree of lane i. If it changes from step to step, a function that makes a new
        TreeChoice: a TreeChoice learns, but repeated runs must be independent."""
        tree = finished.lanes[i].tree
        if isinstance(tree, Tree):
            return tree
        return lambda: self.request.tree(finished.pair, self._lanes[i]).tree
