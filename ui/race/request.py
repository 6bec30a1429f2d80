"""A requested race, made from the untrusted values of the form. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia import SamplingParams, SequoiaError
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS, verifier_named
from sequoia.errors import BadSamplingParams
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.race_file import MOST_LANES
from ui.decode import clocks
from ui.decode.request import DecodeRequest
from ui.serving.limits import Limits
from ui.shared.labels import RACE
from ui.shared.saved_profiles import Entry
from ui.shared.tree_menu import SHAPES, TreeRequest, listed_numbers

NO_LANE = "none"
LEAST_LANES = 2


@dataclass(frozen=True)
class LaneRequest:
    """One lane as requested; `name` is its name on the page."""

    name: str
    tree_request: TreeRequest
    verifier: str


@dataclass(frozen=True)
class RaceRequest:
    """One race as requested. check: afterwards, at temperatures above 0, compare first tokens with
    the target's distribution. chat: treat the prompt as a chat message if the models have a chat
    template. clock: the profile of the simulated clock that all lanes are timed on, see
    ui.decode.clocks; None for this machine."""

    prompt: str
    params: SamplingParams
    lanes: tuple[LaneRequest, ...]
    check: bool = False
    chat: bool = False
    clock: Entry | None = None

    @classmethod
    def parse(cls, form: Mapping[str, Any], limits: Limits) -> RaceRequest:
        """The request in `form`, which has the names of a run's form and `lanes`: (kind, numbers as
        text, verifier) each. Raises a SequoiaError that names the value and the bound."""
        fixed = {
            "tree": "plain",
            "first": None,
            "second": None,
            "verifier": DEFAULT_VERIFIER,
            "compare": False,
        }
        run = DecodeRequest.parse({**form, **fixed}, limits, RACE)
        asked = [
            (number, lane)
            for number, lane in enumerate(form["lanes"], start=1)
            if lane[0] != NO_LANE
        ]
        if not LEAST_LANES <= len(asked) <= MOST_LANES:
            raise BadSamplingParams(
                f"a race of {len(asked)} lane{'s' * (len(asked) != 1)}; expected "
                f"{LEAST_LANES} to {MOST_LANES}"
            )
        lanes = [_lane(number, lane, limits, run.clock) for number, lane in asked]
        return cls(
            run.prompt, run.params, _named(lanes), form["check"] is True, run.chat, run.clock
        )

    @property
    def simulated_clock(self) -> SimulatedClock | None:
        """The clock that gives the step times; None if they are measured."""
        return clocks.simulated_clock(self.clock)


def lane_tree(form: Mapping[str, Any], limits: Limits) -> TreeRequest:
    """The tree that the `kind` and `numbers` of a lane ask for. Raises a SequoiaError."""
    kind: Any = form.get("kind")
    return TreeRequest(kind, listed_numbers(kind, form.get("numbers")), limits.nodes)


def _lane(
    number: int, lane: tuple[Any, Any, Any], limits: Limits, clock: Entry | None
) -> tuple[TreeRequest, str]:
    kind, numbers, verifier = lane
    try:
        verifier_named(verifier)
        tree_request = lane_tree({"kind": kind, "numbers": numbers}, limits)
        clocks.require_timeable(clock, kind)
        return tree_request, verifier
    except SequoiaError as problem:
        raise type(problem)(f"Lane {number}: {problem}") from None


def _named(lanes: Sequence[tuple[TreeRequest, str]]) -> tuple[LaneRequest, ...]:
    """The lanes with unique names. The default verifier is named only beside others of the same
    shape."""
    names = [_name(lane, lanes) for lane in lanes]
    numbered = [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
    return tuple(
        LaneRequest(name, tree_request, verifier)
        for name, (tree_request, verifier) in zip(numbered, lanes, strict=True)
    )


def _name(lane: tuple[TreeRequest, str], lanes: Sequence[tuple[TreeRequest, str]]) -> str:
    tree_request, verifier = lane
    name = SHAPES[tree_request.kind].name
    beside = {other for one, other in lanes if one.kind == tree_request.kind}
    if tree_request.kind == "plain" or beside == {DEFAULT_VERIFIER}:
        return name
    return f"{name}, {VERIFIERS[verifier].label}"
