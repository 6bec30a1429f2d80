"""One race in a thread of its own, and its messages: lanes move in turns, then it is found out
where the time went.

Stop ends all lanes after the present step. What follows is on no lane's clock: losses, remedies and
the lossless check. Moves and checks together take at most the seconds of the limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sequoia import Acceptance, Lane, Pair, Race, Recorder, StepTrace, Tree, TreeChoice
from sequoia.saved_files.race_file import LaneLog, Result
from sequoia.saved_files.run_file import Run
from ui.decode.recordings import RunStore
from ui.decode.request import DecodeRequest
from ui.decode.run import meta_of
from ui.race import distribution_check, messages
from ui.race.distribution_check import DistributionCheck, Round
from ui.race.messages import RaceRecording, StoredRace
from ui.race.report import FinishedRace, Tally, exactness_result
from ui.race.request import RaceRequest
from ui.serving.job import Ended, Notice, RunJob
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Limits

_OF_A_LANE = ("verifier", "tree", "acceptance", "plain_seconds")


@dataclass(frozen=True)
class Started:
    """The first move is about to be made. meta: what all lanes share; that of each lane's
    run is in its log."""

    pair: Pair
    prompt: tuple[int, ...]
    meta: Mapping[str, Any]
    lanes: tuple[LaneLog, ...]


@dataclass(frozen=True)
class Moved:
    lane: int
    trace: StepTrace


@dataclass(frozen=True)
class MovesEnded:
    """The last move was made; results follow."""

    stopped: bool


@dataclass(frozen=True)
class ResultsSoFar:
    """What is known so far, one a lane."""

    results: tuple[Result | None, ...]


class RaceJob(RunJob):
    """A race that is watched and recorded. `start` is called once, and `messages` read once."""

    name = "race"
    if_out_of_memory = "ask for fewer tokens or a smaller tree. The next race is not affected"

    def __init__(
        self,
        race_request: RaceRequest,
        model_host: ModelHost,
        limits: Limits,
        run_store: RunStore[StoredRace],
    ) -> None:
        super().__init__(model_host, limits)
        self.request = race_request
        self.error = None
        self.recording: RaceRecording | None = None
        self._run_store = run_store
        self._notice = None
        self._over: MovesEnded | None = None
        self._lanes_sent = False  # whether the page knows what races
        self._left = False
        self._end = 0.0  # of moves and checks, on the monotonic clock

    def release(self) -> None:
        """The visitor is gone: nothing more is found out. The caches belong to the thread, and
        end with its moves."""
        self._left = True
        super().release()

    def messages(self) -> Iterator[str]:
        """Messages until the thread has ended. Moves come in batches, so that no browser is sent
        more than it can paint."""
        for events in self.batches():
            yield self._message(events)

    def forget(self) -> None:
        """Let go of what was recorded; the shelf alone decides how long it is kept."""
        self.recording = None

    def _message(self, events: Sequence[Any]) -> str:
        results = None
        for event in events:
            if isinstance(event, Started):
                self._record(event)
            elif isinstance(event, Notice):
                self._notice = event.text
            elif isinstance(event, MovesEnded):
                self._over = event
            elif isinstance(event, ResultsSoFar):
                results = event.results
            elif isinstance(event, Ended):
                self._notice = event.notice
                self.error = event.error
        if self.recording is None:
            return messages.notice_message(error=self.error, notice=self._notice)
        added = self.recording.add(
            (event.lane, event.trace) for event in events if isinstance(event, Moved)
        )
        if results:
            self.recording.results = results
        first = not self._lanes_sent
        self._lanes_sent = True
        return messages.batch(
            self.recording,
            added,
            first=first,
            done=self._over is not None or self.error is not None,
            stopped=self._over is not None and self._over.stopped,
            error=self.error,
            notice=self._notice,
            results=results,
        )

    def _record(self, started: Started) -> None:
        self._notice = None
        recorders = [
            Recorder(started.pair, started.prompt, lane.run.meta) for lane in started.lanes
        ]
        self.recording = RaceRecording(started.meta, started.lanes, recorders)
        self._run_store.put(self.recording)

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:  # noqa: ARG002  a race is run to its end
        with self.turn(self.request.chat) as pair:
            race, acceptances = self._begin(pair)
            self._end = time.monotonic() + self._limits.seconds
            tallies, late = self._move(race)
            self.post(MovesEnded(bool(race.running)))
            # the caches are free before anything is checked
            lanes = race.lanes
            race = None
            if not self._left:
                self._judge(
                    FinishedRace(
                        pair,
                        self.request.prompt,
                        self.request.params,
                        lanes,
                        tallies,
                        acceptances,
                    )
                )
        return Ended("time" if late else "stopped" if self.halted() else "length", notice=late)

    def _begin(self, pair: Pair) -> tuple[Race, tuple[Acceptance | None, ...]]:
        """The race, with every lane's tree, and the acceptance each tree was fitted to; for some
        of them something is measured first."""
        race_request = self.request
        chosen = [
            asked.tree_request.tree(pair, race_request.params, asked.verifier, race_request.prompt)
            for asked in race_request.lanes
        ]
        lanes = [
            Lane(asked.name, found.tree, asked.verifier)
            for asked, found in zip(race_request.lanes, chosen, strict=True)
        ]
        race = Race(pair, race_request.prompt, race_request.params, lanes)
        metas = [
            meta_of(
                pair,
                DecodeRequest(
                    race_request.prompt, race_request.params, asked.tree_request, asked.verifier
                ),
                found,
            )
            for asked, found in zip(race_request.lanes, chosen, strict=True)
        ]
        logs = tuple(
            _log_of(lane, ", ".join(filter(None, (found.how, asked.tree_request.rule))), meta)
            for lane, asked, found, meta in zip(
                lanes, race_request.lanes, chosen, metas, strict=True
            )
        )
        shared = {name: value for name, value in metas[0].items() if name not in _OF_A_LANE}
        self.post(Started(pair, race.prompt, shared, logs))
        return race, tuple(found.acceptance for found in chosen)

    def _move(self, race: Race) -> tuple[tuple[Tally, ...], str | None]:
        """Moves until the race ends, is stopped, or its time is up; the words for
        the last of these."""
        tallies = tuple(Tally() for _ in race.lanes)
        for decoder in race.decoders:  # as Race.prefill does, and Stop is heard between two lanes
            if not self.halted():
                decoder.prefill()
        while race.running and not self.halted():
            lane, trace = race.step()
            tallies[lane].add(trace)
            self.post(Moved(lane, trace))
            if self._late:
                return tallies, self.overdue()
        return tallies, None

    @property
    def _late(self) -> bool:
        return time.monotonic() > self._end

    def _must_end(self) -> bool:
        """Whether Stop was pressed or the time of the race is up."""
        return self.halted() or self._late

    # -- after the race, on no clock ---------------------------------------------------------------

    def _judge(self, finished: FinishedRace) -> None:
        self.post(Notice("finding out where the time went"))
        results = finished.timed(self._limits.nodes)
        self.post(ResultsSoFar(tuple(results)))
        self.post(
            Notice(
                "comparing the texts with plain decoding"
                if finished.params.temperature == 0
                else None
            )
        )
        for found in (
            self._texts(finished)
            if finished.params.temperature == 0
            else self._check_distributions(finished)
        ):
            results = [
                {**(result or {}), "lossless": found[i]} if i in found else result
                for i, result in enumerate(results)
            ]
            self.post(ResultsSoFar(tuple(results)))

    def _texts(self, finished: FinishedRace) -> Iterator[Round]:
        tokens = None
        for tokens in finished.plain_tokens():
            if finished.base is None and self._must_end():
                tokens = None
                break
        found = finished.texts(tokens, lambda i: self._tree(finished, i), self._must_end)
        yield from ({lane: lossless} for lane, lossless in found)

    def _check_distributions(self, finished: FinishedRace) -> Iterator[Round]:
        """Running verdicts on the first tokens of all lanes."""
        if not self.request.check or self._must_end():
            late = ": the time of this race was up" * (self.request.check and self._late)
            words = (
                f"At temperature {finished.params.temperature:g} two right texts differ by chance, "
                f"and first tokens were not held against the target's law{late}."
            )
            yield {
                i: exactness_result("none", words)
                for i, lane in enumerate(finished.lanes)
                if not lane.is_plain
            }
            return
        self.post(Notice("choosing the place where first tokens are drawn"))
        seconds = min(distribution_check.SECONDS, self._end - time.monotonic())
        check = DistributionCheck(finished, lambda i: self._tree(finished, i), seconds, self.halted)
        self.post(
            Notice(
                f"drawing first tokens, {distribution_check.DRAWS} a lane, to hold them against "
                "the target's law; Stop ends it"
            )
        )
        yield from check.rounds()

    def _tree(self, finished: FinishedRace, i: int) -> Tree | Callable[[], TreeChoice]:
        """The tree of lane i; where trees change, what makes a TreeChoice for each draw: what one
        draw taught it must not reach the next."""
        tree = finished.lanes[i].tree
        lane = self.request.lanes[i]
        if isinstance(tree, Tree):
            return tree
        return lambda: cast(
            TreeChoice,
            lane.tree_request.tree(
                finished.pair, finished.params, lane.verifier, finished.prompt
            ).tree,
        )


def _log_of(lane: Lane, how: str, meta: Mapping[str, Any]) -> LaneLog:
    """The lane before its first step."""
    fixed, most = (True, len(lane.tree)) if isinstance(lane.tree, Tree) else (False, lane.tree.most)
    return LaneLog(
        lane.name, how, lane.verifier, lane.is_plain, most, not fixed, Run(meta, {}, (), ())
    )
