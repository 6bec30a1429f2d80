"""Messages from the server to the Run view, as JSON strings, and the stored runs. Independent of
Gradio and of models.

A message: {run, from, meta?, notes?, lanes?, stored?, trees?, pieces?, steps, step_lanes, done,
end?, stopped?, error, notice, wait?, follow?, followed?, results?, analysis?, verdict?, pool?}. A
step has the fields of StepTrace. Steps are in the order of the run, and trees are numbered for the
whole run.

Some messages have fewer fields. One about further runs has no `from`, `steps` or `done`. The first
message to a follower of a run that is going on has no `error` and no `notice`. For messages without
a run see `notice_message`.

from: the index of the first step, so that the browser notices that earlier ones are missing.

trees: drafted trees. pieces: the texts of tokens. A message has only those that no earlier message
of the run contained, but `so_far` and `whole` send all.

step_lanes: the lane of each step. notes: sentences about the choice of the trees. lanes: see
LaneShown.

stored: whether the page can load the run again by its name.

end: why the run ended or paused (see ui.serving.run_job.Ended). stopped: whether a lane has not
finished.

wait: how many runs are ahead, and their expected seconds. follow: true if the current run can be
followed meanwhile. followed: true for another visitor's run (added by `RunJob.follow`).

results: see Result. analysis: their words, see ui.words.race_analysis.

verdict: as ui.run.report.verdict_message returns it. pool: the state of the further runs,
see ui.run.pooled.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import orjson
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from sequoia import Recorder, StepTrace, Tree
from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.algorithm.tree import MAX_NODES
from sequoia.checked_types import json_of
from sequoia.decoding.recorder import Recorded
from sequoia.diagnosis.verdict import RaceVerdict
from sequoia.errors import BadTrace
from sequoia.saved_files.race_file import LaneLog, Pool, PooledRun, RaceLog, saved_results
from sequoia.saved_files.race_results import Result
from sequoia.saved_files.run_file import numbered_trees, steps_json
from sequoia.validate_input import json_text
from ui.run.meta import recorded
from ui.run.plan import elsewhere_in
from ui.run.pooled import pool_state
from ui.run.report import recorded_result, verdict_message, verdict_of
from ui.run.request import RunRequest
from ui.shared.tree_menu import SHAPES
from ui.words.plans import rule_words
from ui.words.race_analysis import analysis_shown
from ui.words.race_verdict import note_words


def notice_message(*, error: str | None = None, notice: str | None = None) -> str:
    """A message without a run: the page shows the texts in banners. The run on screen stays."""
    return json_text({"error": error, "notice": notice})


def new_name() -> str:
    """A random name, too long to guess. Anyone who has the name can load the run."""
    return secrets.token_urlsafe(9)


@dataclass(frozen=True)
class Continuation:
    """The inputs for further runs of a run. trees: one for each lane, None if the lane's tree
    changes from step to step."""

    request: RunRequest
    trees: tuple[Tree | None, ...]


class LaneShown(TypedDict):
    """A lane as a message describes it; see also `LaneLog`. kind: the menu's key for the tree, or
    None. number: the lane's number in the form, from 1; None for a run from a file. rates: the
    label of the acceptance rates that the tree was planned from, or "". rule: `LaneLog.rule` in
    words. nodes, levels: of a tree that does not change, else None. why: why the planned tree is a
    chain, or "". request: the kind of tree, then its numbers or its text; None if not recorded."""

    name: str
    description: str
    rule: str
    verifier: str
    plain: bool
    most: int
    changes: bool
    prompt_name: str
    kind: str | None
    number: int | None
    rates: str
    nodes: int | None
    levels: int | None
    why: str
    request: list[str | int | float] | None


class StoredRun:
    """A run that can be shown: its steps in order. One thread adds steps, and any may read.

    continuation: None for a run from a file, which cannot be continued. planned: how many runs
    there will be, the run itself included; None unless further runs are being made. seconds: how
    long the run took on this machine; 0 for a run from a file. most_nodes: of a tree that the
    visitor may decode with. node_count: size in tree nodes, by which a RunStore limits its memory.
    """

    continuation: Continuation | None = None
    planned: int | None = None
    seconds = 0.0
    most_nodes = MAX_NODES

    def __init__(self, meta: Mapping[str, Any], lanes: Sequence[LaneLog]) -> None:
        self.name = new_name()
        self.node_count = 0
        self.meta = dict(meta)
        self.results: tuple[Result | None, ...] | None = None
        self.verdict: RaceVerdict | None = None
        self.pool: Pool | None = None
        self.expected: tuple[ExpectedSteps | None, ...] | None = None
        self._pooled: dict[str, Any] = {}
        self._verdict: dict[str, Any] = {}
        self._lanes = tuple(lanes)
        self._lock = threading.Lock()
        self._steps: list[StepTrace] = []
        self._step_lanes: list[int] = []
        self._pieces: dict[int, str] = {}

    @property
    def lanes(self) -> list[LaneShown]:
        asked = self.continuation.request.lanes if self.continuation else ()
        numbers = [lane.number for lane in asked] or [None] * len(self._lanes)
        return [_shown(lane, number) for lane, number in zip(self._lanes, numbers, strict=True)]

    @property
    def head(self) -> dict[str, Any]:
        """The fields of a run's first message that describe it."""
        notes = note_words(self.meta.get("notes", ()), elsewhere_in(self.meta))
        return {"meta": self.meta, "notes": notes, "lanes": self.lanes}

    def log(self) -> RaceLog:
        """The run as it is saved to a file."""
        return RaceLog(self.meta, self._lanes, self.results, self.pool, self.expected)

    def judge(self) -> None:
        """Compute the verdict on the run and its further runs so far. There is none if no two
        lanes are on the same prompt."""
        log = self.log()
        if len({lane.prompt_name for lane in log.lanes}) == len(log.lanes):
            return
        self.verdict = verdict_of(log)
        request = self.continuation.request if self.continuation else None
        state = pool_state(log, self.verdict, request)
        self._pooled = {**state, "more_seconds": round(state["more"] * self.seconds, 1)}
        self._verdict = verdict_message(log, self.verdict, going=self.planned is not None)

    def add_run(self, run: PooledRun) -> None:
        """Add a further run and compute the verdict again. The new verdict has no p-values,
        because the series of runs counts as stopped until `end_runs` is called with `complete`."""
        pool = self.pool or Pool()
        self.node_count += sum(len(lane.steps) for lane in run.lanes)
        self.pool = replace(pool, runs=(*pool.runs, run), stopped=True)
        self.judge()

    def end_runs(self, *, complete: bool) -> None:
        """Called when no further runs will be made. complete: whether all planned runs were made.
        If so, compute the verdict once more, with p-values."""
        self.planned = None
        if complete and self.pool:
            verdicts = self.pool.verdicts + 1
            self.pool = replace(self.pool, verdicts=verdicts, stopped=False)
            self.judge()

    @property
    def analysis(self) -> dict[str, Any]:
        """The results so far and their words, as fields of a message. Empty if there are none."""
        if not self.results:
            return {}
        return {
            "results": orjson.Fragment(json_of(saved_results(), self.results)),
            "analysis": analysis_shown(self.results, self.meta, self.most_nodes),
        }

    @property
    def judged(self) -> dict[str, Any]:
        """The verdict and the state of the further runs, as fields of a message. Empty until there
        is a verdict."""
        if self.verdict is None:
            return {}
        pool = {**self._pooled, "planned": self.planned}
        return {"verdict": self._verdict, "pool": pool}

    def whole(self, stored: bool = True) -> str:
        """The whole run as one message. stored: whether it can be loaded again by its name."""
        return json_text(
            {
                **self._all(),
                "stored": stored,
                "done": True,
                "stopped": self._stopped,
                "error": None,
                "notice": None,
            }
        )

    def so_far(self, *, done: bool) -> str:
        """A message with all steps so far, for a visitor who begins to follow the run. done:
        whether no more steps follow."""
        return json_text({**self._all(), "done": done})

    @property
    def _stopped(self) -> bool:
        """Whether a lane did not finish."""
        ends = sum(step.finish is not None for step in self._steps)
        return ends < len(self._lanes)

    def _all(self) -> dict[str, Any]:
        with self._lock:
            return {
                "run": self.name,
                **self.head,
                **_all_steps(self._steps, self._pieces),
                "step_lanes": [*self._step_lanes],
                **self.analysis,
                **self.judged,
            }

    def _add_step(self, lane: int, made: Recorded) -> None:
        self.node_count += len(made.step.tree)
        self._steps.append(made.step)
        self._step_lanes.append(lane)
        self._pieces.update(made.pieces)


def _shown(lane: LaneLog, number: int | None) -> LaneShown:
    tree = lane.run.meta.get("tree", {})
    request = tree.get("request")
    kind = request[0] if request else None
    return {
        "name": lane.name,
        "description": lane.description,
        "rule": rule_words(lane.rule),
        "verifier": lane.verifier,
        "plain": lane.plain,
        "most": lane.most,
        "changes": lane.changes,
        "prompt_name": lane.prompt_name,
        "kind": kind if kind in [*SHAPES] else None,
        "number": number,
        "rates": tree.get("rates", ""),
        "nodes": tree.get("nodes"),
        "levels": tree.get("levels"),
        "why": tree.get("why", ""),
        "request": request,
    }


class OpenedRun(StoredRun):
    """A run from a file. Its times are labelled simulated if they are from a simulated clock, else
    recorded. Raises BadTrace if it cannot be played."""

    def __init__(self, log: RaceLog) -> None:
        if not any(lane.run.steps for lane in log.lanes):
            raise BadTrace("the run file contains no steps, so there is nothing to play")
        super().__init__(
            recorded(log.meta),
            [
                replace(lane, run=replace(lane.run, meta=recorded(lane.run.meta)))
                for lane in log.lanes
            ],
        )
        self.results = log.results and tuple(map(recorded_result, log.results))
        self.pool = log.pool
        self.expected = log.expected_steps
        self.judge()
        for lane, step in log.in_order():
            run = log.lanes[lane].run
            self._add_step(lane, Recorded(run.steps[step], run.pieces))


class Recording(StoredRun):
    """A run in progress. recorders: one per lane."""

    def __init__(
        self, meta: Mapping[str, Any], lanes: Sequence[LaneLog], recorders: Sequence[Recorder]
    ) -> None:
        super().__init__(meta, lanes)
        self._recorders = tuple(recorders)
        self._trees: dict[Tree, int] = {}

    def add(self, made: Iterable[tuple[int, StepTrace]]) -> dict[str, Any]:
        """Record the steps `made`, pairs of (lane, step). Returns the fields of a message about
        them."""
        with self._lock:
            first = len(self._steps)
            added: list[Recorded] = []
            for lane, trace in made:
                added.append(self._recorders[lane].add(trace))
                self._add_step(lane, added[-1])
            steps, self._trees = _steps_part(added, self._trees)
            return {"from": first, **steps, "step_lanes": self._step_lanes[first:]}

    def go_on(self) -> dict[str, Any]:
        """The run goes on after a pause, so its verdict and results no longer hold. Returns the
        fields of a message that takes them back."""
        self.results = self.verdict = None
        return {"results": [], "analysis": [], "verdict": None, "pool": None}

    def log(self) -> RaceLog:
        with self._lock:
            runs = [recorder.run() for recorder in self._recorders]
            lanes = tuple(
                replace(lane, run=run) for lane, run in zip(self._lanes, runs, strict=True)
            )
            return RaceLog(self.meta, lanes, self.results, self.pool, self.expected)


def _steps_part(
    added: Sequence[Recorded], known: Mapping[Tree, int]
) -> tuple[dict[str, Any], dict[Tree, int]]:
    """The fields `trees`, `pieces` and `steps` of a message that adds steps, and the numbers of all
    trees so far. known: of the trees that earlier messages had."""
    numbers = numbered_trees((one.step for one in added), known)
    trees = [tree.parents for tree in islice(numbers, len(known), None)]
    pieces = {token: piece for one in added for token, piece in one.pieces.items()}
    part = {
        **({"trees": trees} if trees else {}),
        **({"pieces": pieces} if pieces else {}),
        "steps": steps_json([one.step for one in added], numbers),
    }
    return part, numbers


def _all_steps(steps: Sequence[StepTrace], pieces: Mapping[int, str]) -> dict[str, Any]:
    """The fields `from`, `trees`, `pieces` and `steps` of a message with all steps so far."""
    numbers = numbered_trees(steps)
    return {
        "from": 0,
        "trees": [tree.parents for tree in numbers],
        "pieces": pieces,
        "steps": steps_json(steps, numbers),
    }
