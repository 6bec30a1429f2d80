"""What the visitors of room.py found: page loads, jobs, waits and their estimates."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from goals import Goal, percentile, slope
from measured_app import MB, Taken
from page_visitor import Call

# of the handlers that the visitors call, those that use the models
JOBS = {"decode_run", "decode_step", "race_run", "race_check"}
# Seconds. The goal for waits counts only waits longer than this. It counts only estimates given at
# least this long before the end of the wait.
LONG = 10.0
_ESTIMATE = re.compile(r"(?:about (a|\d+(?:\.\d+)?)|(a few)) (second|minute)")
_A_FEW = 3.0


def estimate_in(words: str) -> float | None:
    """The estimate in a notice, in seconds. None if it has no estimate."""
    found = _ESTIMATE.search(words)
    if not found:
        return None
    if found[2]:
        return _A_FEW
    number = 1.0 if found[1] == "a" else float(found[1])
    return number * (60 if found[3] == "minute" else 1)


@dataclass(frozen=True)
class Wait:
    """A job's wait for its turn. seconds: how long it was. left: the latest estimate that was given
    at least `LONG` seconds before the end of the wait, and how many seconds were really left then.
    None if there was no such estimate."""

    seconds: float
    left: tuple[float, float] | None

    @property
    def is_as_estimated(self) -> bool:
        if self.left is None:
            return False
        estimate, real = self.left
        return abs(real - estimate) <= max(0.25 * estimate, 5.0)


def wait_of(call: Call) -> Wait | None:
    """The wait of a job, whose turn begins with the first message that has "meta". None if its turn
    never came."""
    stage = call.stage
    begun = next((when for when, message in stage if message.get("meta")), None)
    if begun is None:
        return None
    given = [(when, estimate_in(message.get("notice") or "")) for when, message in stage]
    early = [(seconds, begun - when) for when, seconds in given if seconds and begun - when >= LONG]
    return Wait(begun - call.asked, early[-1] if early else None)


def is_explained(call: Call) -> bool:
    """Whether the call of an accepted job has ended with a message that says that the job is done,
    or why it is not done."""
    if call.ended is None:
        return False
    if call.name == "race_check" and not call.stage:
        return True  # there was nothing to check
    return any(
        message.get("done") or message.get("error") or message.get("notice")
        for _, message in call.stage[-1:]
    )


@dataclass
class Findings:
    """Collected by all visitors."""

    loads: int = 0
    refused_loads: list[str] = field(default_factory=list)
    without_buttons: list[str] = field(default_factory=list)
    first_states: list[float] = field(default_factory=list)
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    pressed: Counter[str] = field(default_factory=Counter)
    console: Counter[str] = field(default_factory=Counter)

    def add_calls(self, calls: list[Call]) -> None:
        for call in calls:
            if call.status != 200:
                self.refused[f"{call.name}: {call.status} {call.words[:80]}"] += 1
            elif call.name in JOBS:
                self._add_job(call)

    def _add_job(self, call: Call) -> None:
        self.accepted += 1
        if not is_explained(call):
            last = call.messages[-1][1] if call.messages else "no message"
            self.unexplained.append(f"{call.name}: {str(last)[:120]}")
        if wait := wait_of(call):
            self.waits.append(wait)

    def goals(self) -> list[Goal]:
        waits = [wait for wait in self.waits if wait.seconds > LONG]
        estimated = [wait for wait in waits if wait.left]
        right = sum(wait.is_as_estimated for wait in estimated)
        share = right / len(estimated) if estimated else math.nan
        p50, p95 = (percentile(self.first_states, part) for part in (0.5, 0.95))
        return [
            Goal("refused page loads", len(self.refused_loads), 0, note=f"of {self.loads}"),
            Goal("pages without their buttons", len(self.without_buttons), 0),
            Goal("accepted jobs left unexplained", len(self.unexplained), 0, note=self._jobs()),
            Goal(
                "waits over 10 s that ended as estimated",
                share,
                least=0.9,
                note=f"{len(waits)} waits, {len(waits) - len(estimated)} without an estimate",
            ),
            Goal("seconds to a page's first state, 95 %", p95, 1, note=f"median {p50:.2f}"),
        ]

    def _jobs(self) -> str:
        longest = max((wait.seconds for wait in self.waits), default=0)
        return f"of {self.accepted}; longest wait {longest:.0f} s"

    def details(self) -> str:
        """A line with what was pressed, then at most ten lines for each kind of problem."""
        lines = [f"pressed: {dict(self.pressed)}"]
        for what, found in (
            ("refused load", self.refused_loads),
            ("without buttons", self.without_buttons),
            ("unexplained", self.unexplained),
        ):
            lines += [f"{what}: {one}" for one in found[:10]]
        for what, counted in (("refused", self.refused), ("console", self.console)):
            lines += [f"{what}: {one} ({count} times)" for one, count in counted.most_common(10)]
        return "\n".join(lines)


def machine_goals(points: list[tuple[float, int]], before: Taken, after: Taken) -> list[Goal]:
    """The goals for the app's memory, threads and descriptors. points: (time in seconds, bytes of
    memory). The goal for memory is about the second half of that time. before, after: what the app
    used before and after the visits."""
    half = (points[0][0] + points[-1][0]) / 2
    late = [(when, memory) for when, memory in points if when >= half]
    most = max(memory for _, memory in points)
    return [
        Goal(
            "MB a minute in the second half",
            slope(late) * 60 / MB,
            5,
            note=f"{before.memory / MB:.0f} MB at first, at most {most / MB:.0f} MB",
        ),
        *(
            Goal(f"change in the number of {name}", now - then, 2, -2, f"{then} before")
            for name, now, then in (
                ("threads", after.threads, before.threads),
                ("descriptors", after.files, before.files),
            )
        ),
    ]
