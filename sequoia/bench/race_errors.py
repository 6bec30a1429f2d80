"""How often the verdict of a race is wrong: races resampled from recorded steps.

In a race, several decoders take turns on one prompt. Each decoder is a lane. The verdict says which
lanes are faster. Two figures are measured, each with a goal:

- Identical lanes: at most 6% of verdicts may find them different, after one race and after enough
  races. The verdict itself says how many are enough.
- A true difference of 10%: found by at least 88% of verdicts after enough races.

In a recorded session, several lanes of the same kind decode one prompt, so these lanes differ by
chance alone. A resampled race picks one session at random and deals its runs to the lanes. A true
difference of 10% is made by dividing one lane's step times by 1.1. The number of sessions at one
temperature limits the precision. For example, if there are 48, each makes up about 2% of the races.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sequoia.algorithm.sampling_params import MOST_TOKENS
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import option_parser, reports_errors, text_list
from sequoia.bench.recorded_steps import (
    RecordedRun,
    Session,
    Steps,
    read_sessions,
    record,
    write_sessions,
)
from sequoia.diagnosis.race_verdict import LaneRun, LaneRuns, Verdict, race_verdict
from sequoia.diagnosis.race_verdict.compare_pair import (
    Comparison,
    RaceComparison,
    compare_race,
    pool,
    races_of,
)
from sequoia.diagnosis.race_verdict.decide import RATIO_TO_FIND
from sequoia.errors import SequoiaError
from sequoia.loading.load import load_pair
from sequoia.models.describe import describe
from sequoia.text_files import require_writable, writing
from sequoia.validate_input import whole

STEPS = ASSETS / "bench" / "recorded_steps" / "bundled.json"
GOAL_SAME = 0.06  # largest share of verdicts that may find identical lanes different
GOAL_FOUND = 0.88  # smallest share of verdicts that must find a true difference of 10%
FIRST_RACES = 3  # races before the first verdict, which says how many more are needed
MOST_RACES = 600  # pooled in one verdict
MOST_VERDICTS = 1_000_000  # per figure
# At temperature 0 the runs of a session share a text, and a resampled race may begin at every 8th
# token of that text. At higher temperatures it begins at the first token.
WINDOW = 8
Line = tuple[str, float]  # kind of a lane, and the factor by which its pace is raised


class Resampler:
    """Races drawn at random from recorded sessions. Caches the parts of runs (see `window`) and the
    comparisons of two such parts."""

    def __init__(self, sessions: Sequence[Session], seed: int) -> None:
        self._sessions = [*sessions]
        self._rng = random.Random(seed)
        self._windows = dict[tuple[int, int, int, float], Steps]()
        self._compared = dict[tuple[int, int], RaceComparison | None]()

    def race(self, lanes: Sequence[Line], tokens: int, index: int) -> list[LaneRun]:
        """One race of `tokens` tokens between `lanes`, with runs from one session. index: used as
        the race's seed; prompt and seed together identify the race."""
        session = self._rng.choice(self._sessions)
        longest = session.common if session.temperature == 0 else 0
        begin = WINDOW * self._rng.randrange(max(0, longest - tokens) // WINDOW + 1)
        decks = {kind: self._rng.sample(runs, len(runs)) for kind, runs in session.by_kind.items()}
        text = (1,) * tokens if longest >= tokens else ()
        return [
            LaneRun(
                session.prompt, index, self._window(decks[kind].pop(), begin, tokens, gain), text
            )
            for kind, gain in lanes
        ]

    def verdict(self, lanes: Sequence[Line], races: Sequence[Sequence[LaneRun]]) -> Verdict:
        """The verdict on `races`, pooled."""
        runs = [
            LaneRuns(f"lane {i + 1}", kind, tuple(race[i] for race in races))
            for i, (kind, _) in enumerate(lanes)
        ]
        return race_verdict(runs, compare=self._compare)

    def _window(self, run: RecordedRun, begin: int, tokens: int, gain: float) -> Steps:
        key = id(run), begin, tokens, gain
        if key not in self._windows:
            self._windows[key] = window(run.steps, begin, tokens, gain)
        return self._windows[key]

    def _compare(self, one: LaneRuns, other: LaneRuns) -> Comparison | None:
        return pool([*races_of(one, other, self._compare_race)])

    def _compare_race(self, one: LaneRun, other: LaneRun, drafted: int) -> RaceComparison | None:
        key = id(one.steps), id(other.steps)  # unique: `_windows` keeps both tuples alive
        if key not in self._compared:
            self._compared[key] = compare_race(one, other, drafted)
        return self._compared[key]


def window(steps: Steps, begin: int, tokens: int, gain: float = 1.0) -> Steps:
    """The steps that emit the `tokens` tokens from position `begin` on, with step times divided by
    `gain`. If a step crosses either end, only its tokens inside count, and the same share of its
    time."""
    inside = list[tuple[int, float]]()
    at = 0
    for made, seconds in steps:
        kept = min(at + made, begin + tokens) - max(at, begin)
        if kept > 0:
            inside.append((kept, seconds * kept / made / gain))
        at += made
    return tuple(inside)


# -- the two figures -------------------------------------------------------------------------------

SAME = tuple([("tree", 1.0)] * 4)
SAME_BESIDE_PLAIN = (("plain", 1.0), *[("tree", 1.0)] * 3)
TWO_CHAINS = tuple([("chain", 1.0)] * 2)
APART = (("plain", 1.0), ("tree", 1.0), ("tree", RATIO_TO_FIND))
EQUAL = (("plain", 1.0), ("tree", 1.0), ("tree", 1.0))


def wrongly_different(sampler: Resampler, lanes: Sequence[Line], tokens: int, races: int) -> float:
    """Share of single races, 0 to 1, in which any two lanes with a draft are found different."""
    verdicts = (sampler.verdict(lanes, [sampler.race(lanes, tokens, 0)]) for _ in range(races))
    return sum(_found_different(verdict, lanes) for verdict in verdicts) / races


def _found_different(verdict: Verdict, lanes: Sequence[Line]) -> bool:
    drafted = {lane for lane, (kind, _) in enumerate(lanes) if kind != "plain"}
    return any(pair.apart and {pair.faster, pair.slower} <= drafted for pair in verdict.pairs)


def enough_races(sampler: Resampler, lanes: Sequence[Line], tokens: int) -> Verdict:
    """The verdict after as many races as it calls enough, at most MOST_RACES. Until then, each
    verdict says how many more races are needed, and these are added. If a verdict does not say,
    races are added up to MOST_RACES."""
    races = list[list[LaneRun]]()
    more = FIRST_RACES
    while True:
        races += [sampler.race(lanes, tokens, len(races) + i) for i in range(more)]
        verdict = sampler.verdict(lanes, races)
        if verdict.enough or len(races) >= MOST_RACES:
            return verdict
        more = min(verdict.more_races or MOST_RACES, MOST_RACES - len(races))


def at_enough(
    sampler: Resampler, lanes: Sequence[Line], tokens: int, races: int
) -> tuple[float, str]:
    """Share of verdicts that find the last two lanes different, and in words how many races the
    verdicts took. races: the number of verdicts. If the two lanes truly differ, a verdict counts as
    finding this only if it calls the last lane faster. The share leaves out verdicts for which even
    MOST_RACES races were not enough. It is nan if no verdict is left."""
    made = [enough_races(sampler, lanes, tokens) for _ in range(races)]
    verdicts = [verdict for verdict in made if verdict.enough]
    median = statistics.median(verdict.races for verdict in made)
    words = (
        f"median {median:.0f} races; even {MOST_RACES} were not enough for "
        f"{1 - len(verdicts) / races:.1%} of verdicts"
    )
    if not verdicts:
        return math.nan, words
    last = len(lanes) - 1
    same = lanes[-1] == lanes[-2]
    pairs = [verdict.pair(last - 1, last) for verdict in verdicts]
    found = sum(pair is not None and pair.apart and (same or pair.faster == last) for pair in pairs)
    return found / len(verdicts), words


def report(sessions: Sequence[Session], tokens: Sequence[int], races: int, seed: int) -> bool:
    """Print the figures for each temperature and length of a race. Returns whether all goals are
    met."""
    met = True
    for temperature in sorted({session.temperature for session in sessions}):
        for length in tokens:
            of_these = [one for one in sessions if one.temperature == temperature]
            sampler = Resampler(of_these, seed)
            print(f"temperature {temperature:g}, {length}-token races, {races} verdicts per figure")
            met &= _same(sampler, length, races)
            met &= _found(sampler, length, races)
    return met


def _same(sampler: Resampler, tokens: int, races: int) -> bool:
    """Print the shares of verdicts that find identical lanes different, after one race and after
    enough races. Returns whether all shares meet the goal."""
    shares = {
        "four tree lanes": wrongly_different(sampler, SAME, tokens, races),
        "plain and three tree lanes": wrongly_different(sampler, SAME_BESIDE_PLAIN, tokens, races),
        "two chain lanes": wrongly_different(sampler, TWO_CHAINS, tokens, races),
    }
    words = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    print(
        f"  identical lanes found different after one race: {words} (goal: at most {GOAL_SAME:.0%})"
    )
    share, words = at_enough(sampler, EQUAL, tokens, races)
    print(f"  identical lanes found different after enough races ({words}): {share:.1%}")
    return all(one <= GOAL_SAME for one in (share, *shares.values()))


def _found(sampler: Resampler, tokens: int, races: int) -> bool:
    """Print the share of verdicts that find a true difference of 10%. Returns whether the goal is
    met."""
    share, words = at_enough(sampler, APART, tokens, races)
    print(
        f"  true difference of 10% found after enough races ({words}): {share:.1%} "
        f"(goal: at least {GOAL_FOUND:.0%})",
        flush=True,
    )
    return share >= GOAL_FOUND


# -- the command line ------------------------------------------------------------------------------


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    parser = option_parser("python -m sequoia.bench.race_errors", __doc__)
    parser.add_argument("--steps", type=Path, default=STEPS, help="file of recorded steps")
    parser.add_argument(
        "--record",
        action="store_true",
        help="first record steps with the bundled pair, and write them to --steps",
    )
    parser.add_argument(
        "--record-tokens", type=int, default=192, help="tokens to record in each run"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=3,
        help="sessions to record for each prompt and temperature",
    )
    parser.add_argument("--prompts", type=int, default=6, help="prompts of each kind to record")
    parser.add_argument(
        "--races", type=int, default=2000, help="verdicts per figure, on resampled races"
    )
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[96, 128], help="lengths of a race, in tokens"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the resampled races")
    options = parser.parse_args(argv)
    whole(options.races, "--races", 1, MOST_VERDICTS, SequoiaError)
    whole(options.prompts, "--prompts", 1, 1000, SequoiaError)
    whole(options.repeats, "--repeats", 1, 1000, SequoiaError)
    whole(options.record_tokens, "--record-tokens", 1, MOST_TOKENS, SequoiaError)
    longest = options.record_tokens if options.record else MOST_TOKENS
    for length in options.tokens:
        whole(length, "--tokens", 1, longest, SequoiaError)
    if options.record:
        require_writable(options.steps)
        record_file(options.steps, options.record_tokens, options.repeats, options.prompts)
    about, sessions = read_sessions(options.steps)
    shortest = min(run.length for session in sessions for run in session.runs)
    for length in options.tokens:
        whole(length, "--tokens", 1, shortest, SequoiaError)
    print(f"{len(sessions)} sessions of {about['pair']}, recorded on {about['device']}")
    met = report(sessions, options.tokens, options.races, options.seed)
    print("All goals are met." if met else "Not all goals are met.")


def record_file(path: Path, tokens: int, repeats: int, prompts: int) -> None:
    """Record sessions with the bundled pair. `path` is rewritten after each session, so that an
    interrupted recording is not lost."""
    pair = load_pair()
    named = {
        f"{kind} {i + 1}": text
        for kind in ("code", "prose")
        for i, text in enumerate(text_list(kind, ASSETS / "bench")[:prompts])
    }
    about = {
        "pair": pair.name,
        "device": describe(pair.target.device),
        "date": datetime.now().isoformat(timespec="minutes"),
    }
    for sessions in record(pair, named, tokens, repeats):
        with writing(path):
            write_sessions(path, about, sessions)


if __name__ == "__main__":
    sys.exit(main())
