"""A requested race, made from the untrusted values of the form. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia import Pair, SamplingParams, SequoiaError
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS, verifier_named
from sequoia.errors import BadPrompt, BadSamplingParams
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.race_file import MOST_LANES
from ui.decode import clocks
from ui.decode.request import DecodeRequest
from ui.serving.limits import Limits
from ui.shared.labels import RACE
from ui.shared.prompts import prompt_kind, require_length
from ui.shared.saved_profiles import Entry
from ui.shared.tree_menu import SHAPES, listed_numbers
from ui.shared.tree_request import ChosenTree, TreeRequest

NO_LANE = "none"


@dataclass(frozen=True)
class LaneRequest:
    """One lane as requested. number: its number in the form, from 1. name: its name on the page.
    prompt, prompt_name: in a race of two prompts, the lane's prompt and the name of that prompt,
    such as "code"; else empty."""

    number: int
    name: str
    tree_request: TreeRequest
    verifier: str
    prompt: str = ""
    prompt_name: str = ""


@dataclass(frozen=True)
class RaceRequest:
    """One race as requested. lanes: with a second_prompt, the lanes on the first prompt, then those
    on the second. check: whether the check of losslessness at temperatures above 0 is wanted. chat:
    treat each prompt as a chat message if the models have a chat template. clock: the profile of
    the simulated clock that times all lanes; None to time them on this machine."""

    prompt: str
    params: SamplingParams
    lanes: tuple[LaneRequest, ...]
    check: bool = False
    chat: bool = False
    clock: Entry | None = None
    second_prompt: str = ""

    @classmethod
    def parse(cls, form: Mapping[str, Any], limits: Limits) -> RaceRequest:
        """The request in `form`. The form has the values for DecodeRequest.parse, without those in
        `fixed` below. It also has `check`, `second_prompt` (may be missing) and `lanes`, a list of
        (kind, numbers as text, verifier). Raises a SequoiaError if a value is invalid."""
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
        if not 1 <= len(asked) <= MOST_LANES:
            raise BadSamplingParams(f"a race of {len(asked)} lanes; expected 1 to {MOST_LANES}")
        numbers = [number for number, _ in asked]
        lanes = _named(numbers, [_lane(number, lane, limits, run.clock) for number, lane in asked])
        second = _second_prompt(form.get("second_prompt", ""), run.prompt, limits)
        if second:
            lanes = _on_both(lanes, (run.prompt, second))
        return cls(
            run.prompt, run.params, lanes, form["check"] is True, run.chat, run.clock, second
        )

    @property
    def prompts(self) -> tuple[str, ...]:
        """The one or two prompts of the race."""
        return (self.prompt, self.second_prompt) if self.second_prompt else (self.prompt,)

    def prompt_of(self, lane: LaneRequest) -> str:
        """The prompt that `lane` races on."""
        return lane.prompt or self.prompt

    def tree(self, pair: Pair, lane: LaneRequest) -> ChosenTree:
        """A new tree for `lane`, or a new TreeChoice. Measures acceptance and step times first if
        they are needed and not known yet."""
        prompt, clock = self.prompt_of(lane), self.simulated_clock
        return lane.tree_request.tree(pair, self.params, lane.verifier, prompt, clock)

    @property
    def simulated_clock(self) -> SimulatedClock | None:
        """The clock that gives the step times; None if they are measured."""
        return clocks.simulated_clock(self.clock)


def _second_prompt(text: Any, first: str, limits: Limits) -> str:
    """The second prompt; empty if there is none."""
    if not isinstance(text, str) or not text.strip():
        return ""
    require_length(text, limits.prompt_chars, "the second prompt has")
    if text == first:
        raise BadPrompt("the second prompt is the same as the first; change it, or leave it empty")
    return text


def _on_both(lanes: Sequence[LaneRequest], prompts: tuple[str, str]) -> tuple[LaneRequest, ...]:
    """The lanes on the first prompt, then the same lanes on the second."""
    if 2 * len(lanes) > MOST_LANES:
        raise BadSamplingParams(
            f"a race of {len(lanes)} lanes on two prompts; every lane races on both prompts, so "
            f"expected at most {MOST_LANES // 2} lanes"
        )
    named = zip(prompts, prompt_names(prompts), strict=True)
    return tuple(
        replace(lane, prompt=prompt, prompt_name=name) for prompt, name in named for lane in lanes
    )


def prompt_names(prompts: tuple[str, str]) -> tuple[str, str]:
    """The names of two prompts: their kinds of text if these differ, else their numbers."""
    first, second = map(prompt_kind, prompts)
    return ("prompt 1", "prompt 2") if first == second else (first, second)


def lane_tree(form: Mapping[str, Any], limits: Limits) -> TreeRequest:
    """The tree for the `kind` and `numbers` of a lane. Raises a SequoiaError if they are
    invalid."""
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


def _named(
    numbers: Sequence[int], lanes: Sequence[tuple[TreeRequest, str]]
) -> tuple[LaneRequest, ...]:
    """The lanes with their numbers in the form, and with names that are all different."""
    names = [_name(lane, lanes) for lane in lanes]
    numbered = [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
    return tuple(
        LaneRequest(number, name, tree_request, verifier)
        for number, name, (tree_request, verifier) in zip(numbers, numbered, lanes, strict=True)
    )


def _name(lane: tuple[TreeRequest, str], lanes: Sequence[tuple[TreeRequest, str]]) -> str:
    """The kind of a lane in words, and its verifier. The verifier is left out for plain decoding,
    and if all lanes of this kind have the default verifier."""
    tree_request, verifier = lane
    name = SHAPES[tree_request.kind].name
    beside = {other for one, other in lanes if one.kind == tree_request.kind}
    if tree_request.kind == "plain" or beside == {DEFAULT_VERIFIER}:
        return name
    return f"{name}, {VERIFIERS[verifier].label}"
