"""The analysis after a run: who won, and for each lane where its time went, what would help, and
whether its text is lossless.

Independent of threads and of the page.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from sequoia import (
    Acceptance,
    DecodeStats,
    Lane,
    Pair,
    Race,
    SamplingParams,
    SequoiaError,
    StepTrace,
    Tree,
    acceptance_of,
    machine,
    plain,
)
from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.algorithm.step_trace import common_tokens
from sequoia.diagnosis.compare_runs import (
    SAME_TEXT,
    LaneRun,
    LaneRuns,
    Step,
    compare_pair,
    speedup,
)
from sequoia.diagnosis.race_verdict import race_verdict
from sequoia.diagnosis.verdict import LaneSpeedup, RaceVerdict
from sequoia.diagnosis.what_to_try import diagnose, typical_tree
from sequoia.diagnosis.where_time_went import time_breakdown
from sequoia.exactness.same_tokens import check_text
from sequoia.measuring.steps_for_texts import expected_steps, fixed_lane
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.race_file import LaneLog, Pool, RaceLog
from sequoia.saved_files.race_results import Diagnosis, Lossless, Remedy, Result
from sequoia.saved_files.run_file import Run, clock_of
from ui.run.plan import elsewhere_in
from ui.words import race_verdict as verdict_words

MANY = 10_000  # runs, see FinishedRun._stats


def step_of(trace: StepTrace) -> Step:
    """The number of emitted tokens and the seconds of a step."""
    return len(trace.emitted), trace.total_seconds


class Tally:
    """A lane's totals and tokens, and the tree size, tokens and seconds of each step."""

    def __init__(self) -> None:
        self.stats = DecodeStats()
        self.tokens = list[int]()
        self.sizes: list[tuple[int, int]] = []  # (nodes, levels) of each step
        self.steps: list[Step] = []

    def add(self, trace: Any) -> None:
        """Count a step of the lane."""
        self.stats = self.stats.add(trace)
        self.tokens += trace.emitted
        self.sizes.append((len(trace.tree), trace.tree.levels))
        self.steps.append(step_of(trace))

    def lane_runs(self, kind: str, expected: ExpectedSteps | None = None) -> LaneRuns:
        run = LaneRun("", 0, tuple(self.steps), tuple(self.tokens), expected=expected)
        return LaneRuns("", kind, (run,))


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended. prompt: the prompt of lanes that have none of their own. acceptances:
    the acceptance that each lane's tree was fitted to, None for a fixed shape. clock: the simulated
    clock that timed all lanes, None if their times were measured here. expected: the expected steps
    of each lane, None where they are not known."""

    pair: Pair
    prompt: str
    params: SamplingParams
    lanes: tuple[Lane, ...]
    tallies: tuple[Tally, ...]
    acceptances: tuple[Acceptance | None, ...]
    clock: SimulatedClock | None = None
    expected: tuple[ExpectedSteps | None, ...] | None = None

    @property
    def base(self) -> int | None:
        """The index of the first plain lane, None if there is none."""
        return next((i for i, lane in enumerate(self.lanes) if lane.is_plain), None)

    def by_prompt(self) -> Iterator[tuple[tuple[int, ...], FinishedRun]]:
        """For each prompt, the indexes of its lanes and a FinishedRun of these lanes only."""
        prompts = [self.prompt if lane.prompt is None else lane.prompt for lane in self.lanes]
        for prompt in dict.fromkeys(prompts):
            places = tuple(i for i, own in enumerate(prompts) if own == prompt)
            lanes, tallies, acceptances, expected = (
                values and tuple(values[i] for i in places)
                for values in (self.lanes, self.tallies, self.acceptances, self.expected)
            )
            part = replace(
                self,
                prompt=prompt,
                lanes=lanes,
                tallies=tallies,
                acceptances=acceptances,
                expected=expected,
            )
            yield places, part

    def timed(self) -> list[Result | None]:
        """For each lane, where its time went and what to try, compared with the first plain lane.
        Either is None if it cannot be computed, for example without a plain lane. `lossless` is
        None. A plain lane's result is None."""
        base = None if self.base is None else self.tallies[self.base]
        return [
            None if lane.is_plain else self._timed(i, base) for i, lane in enumerate(self.lanes)
        ]

    def _timed(self, i: int, base: Tally | None) -> Result:
        result = Result()
        if base is None or self._is_cut_short(i, base):
            return result
        stats = self._stats(i)
        # For example, a lane without steps raises an error. Without advice, the bars stay.
        with suppress(SequoiaError):
            result = Result(time_breakdown(stats, base.stats))
            result = replace(result, what_to_try=self._what_to_try(i, stats, base))
        return result

    def _is_cut_short(self, i: int, base: Tally) -> bool:
        """Whether the verdict compares lane i with plain decoding over a part of their texts. Its
        totals would then give another speed-up than the verdict."""
        tokens = self.tallies[i].tokens, base.tokens
        shared = common_tokens(*tokens)
        return len(tokens[0]) != len(tokens[1]) and shared >= SAME_TEXT * min(map(len, tokens))

    def _lane_and_plain(self, i: int) -> tuple[LaneRuns, LaneRuns]:
        """Lane i, which is not plain, and the plain lane."""
        assert self.base is not None
        expected = self.expected or (None,) * len(self.lanes)
        lane, plain = (
            self.tallies[at].lane_runs(kind, expected[at])
            for at, kind in ((i, "tree"), (self.base, "plain"))
        )
        return lane, plain

    def _stats(self, i: int) -> DecodeStats:
        """The totals of lane i. If the verdict compares expected tokens per step, these totals have
        them too. They are then those of many runs, because the tokens of one would have to be
        rounded."""
        stats = self.tallies[i].stats
        lane, plain = self._lane_and_plain(i)
        found = compare_pair(lane, plain)
        if found is None or not found.expected:
            return stats
        return replace(
            stats,
            steps=MANY * stats.steps,
            tokens=round(MANY * stats.steps * (lane.expected_tokens_per_step or 0)),
            seconds={phase: MANY * seconds for phase, seconds in stats.seconds.items()},
        )

    def pair_of(self, i: int) -> Pair:
        """The target with the draft of lane i."""
        return self.lanes[i].pair or self.pair

    def _acceptance(self, i: int) -> Acceptance:
        """The acceptance that lane i's tree was fitted to. If there is none, the pair's acceptance
        with the lane's verifier. That is measured now if it is not known."""
        verifier = self.lanes[i].verifier
        return (
            self.acceptances[i]
            or acceptance_of(self.pair_of(i), self.params, verifier, [self.prompt])[0]
        )

    def _what_to_try(self, i: int, stats: DecodeStats, base: Tally) -> Diagnosis:
        acceptance = self._acceptance(i)
        tally = self.tallies[i]
        tree = self.lanes[i].tree
        if not isinstance(tree, Tree):
            nodes, levels = (statistics.fmean(sizes) for sizes in zip(*tally.sizes, strict=True))
            tree = typical_tree(nodes, levels, acceptance)
        found = diagnose(
            stats,
            tree,
            base.stats,
            acceptance,
            self.clock.profile if self.clock else machine(self.pair_of(i)),
            speedup(*self._lane_and_plain(i)),
        )
        return _of_own_draft(found) if self.lanes[i].pair else found

    def exactness_results(self, reference: Sequence[int] | None) -> Iterator[tuple[int, Lossless]]:
        """For a run at temperature 0, yields (lane index, result) for each lane that has a draft
        and has emitted tokens. The result compares the lane's tokens with `reference`, the tokens
        of plain decoding. If `reference` is None or empty, the result says that nothing was
        checked."""
        for i, (lane, tally) in enumerate(zip(self.lanes, self.tallies, strict=True)):
            if lane.is_plain or not tally.tokens:
                continue
            if not reference:
                yield i, Lossless("none", "measured", why="no_plain_text")
                continue
            match = check_text(self.pair_of(i), self.prompt, tally.tokens, reference)
            yield i, Lossless(match.verdict, "measured", match)

    def plain_tokens(self) -> Iterator[list[int]]:
        """Yields the plain lane's tokens. If there is no plain lane, runs plain decoding now, until
        it has as many tokens as the longest text, and yields the growing list after each step."""
        if self.base is not None:
            yield self.tallies[self.base].tokens
            return
        tokens = list[int]()
        longest = max(len(tally.tokens) for tally in self.tallies)
        for step in plain(self.pair, self.prompt, self.params):
            tokens += step.emitted
            yield tokens
            if len(tokens) >= longest:
                return


def recorded_result(result: Result | None) -> Result | None:
    """A lane's result from a file: what was measured then is recorded now. The times in a result
    have the label of the run."""
    if result is None or result.lossless is None:
        return result
    return replace(result, lossless=replace(result.lossless, label="recorded"))


def verdict_of(log: RaceLog) -> RaceVerdict:
    """The verdict on a run that has ended, pooled with its further runs. The run counts as
    stopped if a lane did not finish or a planned further run is missing."""
    pool = log.pool or Pool()
    stopped = not ran_to_end(log) or pool.stopped
    return race_verdict(_lanes(log), stopped=stopped, looks=pool.verdicts)


def verdict_message(log: RaceLog, verdict: RaceVerdict, going: bool) -> dict[str, Any]:
    """The verdict on the run `log`, as the page shows it: its fields as JSON values, and

    reasons: sentences on why the winner won. details: sentences on how sure the verdict is. going:
    whether further runs are being made.
    """
    lanes = _lanes(log)
    return {
        **asdict(verdict),
        "reasons": verdict_words.reasons(verdict, lanes, elsewhere_in(log.meta)),
        "details": verdict_words.details(verdict, lanes, going=going),
    }


def _lanes(log: RaceLog) -> list[LaneRuns]:
    return [_lane_runs(log, i) for i in range(len(log.lanes))]


def ran_to_end(log: RaceLog) -> bool:
    """Whether every lane of the run finished."""
    return all(lane.run.steps and lane.run.steps[-1].finish for lane in log.lanes)


def _lane_runs(log: RaceLog, i: int) -> LaneRuns:
    """All runs of lane i: that of the run, then the further ones."""
    lane = log.lanes[i]
    further = log.pool.runs if log.pool else ()
    clock = clock_of(lane.run.meta)
    first = _first_run(lane, log.meta, log.expected_steps[i] if log.expected_steps else None)
    is_second = lane.prompt_name != log.lanes[0].prompt_name
    runs = [
        LaneRun(
            run.second_prompt if is_second else run.prompt,
            run.seed,
            run.lanes[i].steps,
            run.lanes[i].tokens,
            clock,
            run.lanes[i].expected_steps,
        )
        for run in further
    ]
    return LaneRuns(lane.name, _kind(lane), (first, *runs), lane.prompt_name)


@dataclass(frozen=True)
class DraftedLane:
    """A lane beside plain decoding. speedup: over the plain lane on the same prompt. plain_seconds:
    of that lane, per token. Both are None without such a lane."""

    run: Run
    speedup: LaneSpeedup | None = None
    plain_seconds: float | None = None


def drafted_lane(log: RaceLog, verdict: RaceVerdict | None) -> DraftedLane | None:
    """The lane of a run that other views speak of: the first whose trees branch, else the first
    with a draft; None if all are plain. verdict: on the run; None if there is none yet."""
    kinds = [_kind(lane) for lane in log.lanes]
    place = next((kinds.index(kind) for kind in ("tree", "chain") if kind in kinds), None)
    if place is None:
        return None
    speedup = verdict.speedups[place] if verdict else None
    if speedup is None or kinds[speedup.over] != "plain":
        return DraftedLane(log.lanes[place].run)
    plain = DecodeStats.fold(log.lanes[speedup.over].run.steps)
    return DraftedLane(log.lanes[place].run, speedup, plain.total_seconds / plain.tokens)


def sampling_of(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """The sampling parameters in the meta of a run; empty if it has none."""
    return meta.get("params", {})


def _first_run(lane: LaneLog, meta: Mapping[str, Any], expected: ExpectedSteps | None) -> LaneRun:
    return LaneRun(
        lane.prompt if lane.prompt_name else str(meta.get("prompt", "")),
        sampling_of(meta).get("seed", 0),
        tuple(map(step_of, lane.run.steps)),
        tuple(token for step in lane.run.steps for token in step.emitted),
        clock_of(lane.run.meta),
        expected,
    )


def _kind(lane: LaneLog) -> str:
    """The lane's kind in the verdict: "plain", "chain" or "tree". A tree without branches is a
    chain, whatever was chosen in the menu."""
    if lane.plain:
        return "plain"
    branches = any(len(step.tree) > step.tree.levels for step in lane.run.steps)
    return "tree" if branches else "chain"


# -- expected steps --------------------------------------------------------------------------------


def expected_of(
    pair: Pair, race: Race, texts: Sequence[Sequence[int]], params: SamplingParams
) -> tuple[ExpectedSteps | None, ...] | None:
    """For each lane, the expected number of steps for the texts of all lanes with the same prompt.
    texts: the token ids that each lane emitted.

    A value is None if the lane's tree changes from step to step, if its verifier does not allow the
    computation, or if all of these texts are too short. At temperature 0 the result is None instead
    of a tuple: nothing is random, so the expected steps are the actual ones.
    """
    if params.temperature == 0:
        return None
    found: list[ExpectedSteps | None] = [None] * len(race.lanes)
    prompts = [decoder.prompt for decoder in race.decoders]
    for prompt in dict.fromkeys(prompts):
        places = [i for i, own in enumerate(prompts) if own == prompt]
        lanes = [fixed_lane(race.lanes[i].tree, race.lanes[i].verifier) for i in places]
        steps = expected_steps(pair, prompt, [texts[i] for i in places], params, lanes)
        for place, of_lane in zip(places, steps, strict=True):
            found[place] = of_lane and rounded(of_lane)
    return tuple(found)


def rounded(expected: ExpectedSteps) -> ExpectedSteps:
    """`expected` with as many decimals as a file keeps."""
    steps = tuple(tuple(round(one, 4) for one in of_text) for of_text in expected.steps)
    return ExpectedSteps(expected.tokens, steps)


def _of_own_draft(found: Diagnosis) -> Diagnosis:
    """`found` for a lane with a draft of its own: without changes of the tree, which would be of
    the pair's draft, and of the small model."""

    def kept(remedies: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
        return tuple(one for one in remedies if one.change in ("plain", "larger_target"))

    return replace(found, remedies=kept(found.remedies), unclear=kept(found.unclear))
