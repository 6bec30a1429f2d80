"""A requested run, parsed from the untrusted values of the form. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia import Pair, SamplingParams, SequoiaError
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS, verifier_named
from sequoia.errors import BadPrompt, BadSamplingParams
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.race_file import MOST_LANES, LaneLog, RaceLog
from sequoia.saved_files.run_file import clock_of
from sequoia.validate_input import whole
from ui.run import clocks
from ui.serving.limits import Limits
from ui.shared.labels import RUN, with_labels
from ui.shared.prompts import prompt_kind, require_length
from ui.shared.saved_profiles import Entry
from ui.shared.tree_menu import SHAPES, entry_of, listed_numbers
from ui.shared.tree_request import ChosenTree, TreeRequest

NO_LANE = "none"
# used for settings that a file lacks
_DEFAULTS = {"temperature": 1.0, "top_p": 1.0, "max_new_tokens": 128, "seed": 0}


@dataclass(frozen=True)
class LaneRequest:
    """One lane as requested. number: its number in the form, from 1. name: its name on the page.
    prompt, prompt_name: in a run on two prompts, the lane's prompt and the name of that prompt,
    such as "code"; else empty."""

    number: int
    name: str
    tree_request: TreeRequest
    verifier: str
    prompt: str = ""
    prompt_name: str = ""


@dataclass(frozen=True)
class RunRequest:
    """One run as requested. lanes: with a second_prompt, the lanes on the first prompt, then those
    on the second. check: whether the check of losslessness at temperatures above 0 is wanted. chat:
    treat each prompt as a chat message if the models have a chat template. clock: the profile of
    the simulated clock that times all lanes (see ui.run.clocks); None to time them here."""

    prompt: str
    params: SamplingParams
    lanes: tuple[LaneRequest, ...]
    check: bool = False
    chat: bool = False
    clock: Entry | None = None
    second_prompt: str = ""

    @classmethod
    def parse(cls, form: Mapping[str, Any], limits: Limits) -> RunRequest:
        """The request in `form`: the values of the form by name, and `lanes`, a list of (kind,
        numbers as text, verifier). May be missing: check, chat, clock, profiles, second_prompt.
        Raises a SequoiaError if a value is invalid."""
        prompt = _prompt(form["prompt"], limits)
        params = _params(form, limits)
        clock = clocks.checked_clock(form.get("clock", clocks.HERE), form.get("profiles"))
        asked = [
            (number, lane)
            for number, lane in enumerate(form["lanes"], start=1)
            if lane[0] != NO_LANE
        ]
        if not 1 <= len(asked) <= MOST_LANES:
            raise BadSamplingParams(f"a run of {len(asked)} lanes; expected 1 to {MOST_LANES}")
        numbers = [number for number, _ in asked]
        lanes = _named(numbers, [_lane(number, lane, limits, clock) for number, lane in asked])
        second = _second_prompt(form.get("second_prompt", ""), prompt, limits)
        if second:
            lanes = _on_both(lanes, (prompt, second))
        check, chat = (form.get(name) is True for name in ("check", "chat"))
        return cls(prompt, params, lanes, check, chat, clock, second)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The one or two prompts."""
        return (self.prompt, self.second_prompt) if self.second_prompt else (self.prompt,)

    def prompt_of(self, lane: LaneRequest) -> str:
        """The prompt of `lane`."""
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


def _prompt(text: Any, limits: Limits) -> str:
    if not isinstance(text, str) or not text.strip():
        raise BadPrompt(
            "the prompt is empty; enter some text for the models to continue, or choose an example"
        )
    require_length(text, limits.prompt_chars)
    return text


def _params(form: Mapping[str, Any], limits: Limits) -> SamplingParams:
    try:
        tokens = whole(
            _int(form["max_new_tokens"]), "max_new_tokens", 1, limits.tokens, BadSamplingParams
        )
        return SamplingParams.parse(
            {
                "temperature": form["temperature"],
                "top_p": form["top_p"],
                "max_new_tokens": tokens,
                "seed": _int(form["seed"]),
            }
        )
    except SequoiaError as problem:
        raise with_labels(problem, RUN) from None


def param_problem(name: str, value: Any, limits: Limits) -> str:
    """What is wrong with one sampling parameter of the form; empty if nothing is."""
    try:
        _params({**_DEFAULTS, "max_new_tokens": 1, name: value}, limits)
    except SequoiaError as problem:
        return str(problem)
    return ""


def _int(value: Any) -> Any:
    """A whole float such as 128.0 as an int, because a browser does not distinguish 128.0 from
    128. All other values are returned unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


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
            f"{len(lanes)} lanes on two prompts; every lane runs on both prompts, so expected at "
            f"most {MOST_LANES // 2} lanes"
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


# -- the settings of a recorded run ----------------------------------------------------------------


def settings_of(log: RaceLog, limits: Limits, profiles: Any = None) -> dict[str, Any]:
    """The form values, by name and with `lanes`, that request the run `log` again. profiles: those
    saved in the visitor's browser, untrusted. Raises a SequoiaError if this server would refuse the
    run."""
    meta = log.meta
    params = meta.get("params", {})
    on_first = [lane for lane in log.lanes if lane.prompt_name == log.lanes[0].prompt_name]
    values = {
        "prompt": meta.get("prompt"),
        "second_prompt": meta.get("second_prompt", ""),
        "chat": meta.get("chat") is True,
        "check": False,
        "clock": clocks.key_of(clock_of(meta), profiles),
        **{name: params.get(name, value) for name, value in _DEFAULTS.items()},
        "lanes": [_lane_settings(lane) for lane in on_first],
    }
    RunRequest.parse({**values, "profiles": profiles}, limits)
    return values


def _lane_settings(lane: LaneLog) -> tuple[str, str, str]:
    """Kind, numbers as text and verifier of a recorded lane. If it is not known how its tree was
    requested, it is given node by node."""
    request = lane.run.meta.get("tree", {}).get("request")
    if request:
        kind, *numbers = request
        return kind, ", ".join(str(_int(one)) for one in numbers), lane.verifier
    largest = max((step.tree for step in lane.run.steps), key=len, default=Tree.chain(1))
    kind, numbers, _ = entry_of(largest)
    return kind, numbers, lane.verifier
