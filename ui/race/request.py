"""What a visitor asks of a race, made from the values of the form, none of which is believed.
Knows no components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia import SamplingParams, SequoiaError
from sequoia.decoding.engine import verifier_named
from sequoia.errors import BadSamplingParams, BadTree
from sequoia.saved_files.race_file import MOST_LANES
from sequoia.validate_input import shown
from ui.decode.request import DecodeRequest
from ui.serving.sessions import Limits
from ui.shared.labels import RACE, VERIFIER
from ui.shared.tree_menu import SHAPES, TEXTS, TreeRequest

NO_LANE = "none"
LEAST_LANES = 2


@dataclass(frozen=True)
class LaneRequest:
    """One lane as it was asked for; `name` is what the page calls it."""

    name: str
    tree_request: TreeRequest
    verifier: str


@dataclass(frozen=True)
class RaceRequest:
    """One race as it was asked for. check: hold first tokens against the target's law
    afterwards, where temperature is not 0. chat: the prompt is a chat message, where the models
    have a template for it."""

    prompt: str
    params: SamplingParams
    lanes: tuple[LaneRequest, ...]
    check: bool = False
    chat: bool = False

    @classmethod
    def parse(cls, form: Mapping[str, Any], limits: Limits) -> RaceRequest:
        """The order in `form`: that of a run's names, and lanes: (kind, numbers as text, verifier)
        each. Raises a SequoiaError that names the value and the bound."""
        fixed = {
            "tree": "plain",
            "first": None,
            "second": None,
            "verifier": "sequoia",
            "compare": False,
        }
        run = DecodeRequest.parse({**form, **fixed}, limits, RACE)
        asked = [
            (place, lane) for place, lane in enumerate(form["lanes"], start=1) if lane[0] != NO_LANE
        ]
        if not LEAST_LANES <= len(asked) <= MOST_LANES:
            raise BadSamplingParams(
                f"a race of {len(asked)} lane{'s' * (len(asked) != 1)}; allowed are "
                f"{LEAST_LANES} to {MOST_LANES}"
            )
        return cls(
            run.prompt,
            run.params,
            _named([_lane(place, lane, limits) for place, lane in asked]),
            form["check"] is True,
            run.chat,
        )


def _lane(place: int, lane: tuple[Any, Any, Any], limits: Limits) -> tuple[TreeRequest, str]:
    kind, numbers, verifier = lane
    try:
        verifier_named(verifier)
        return TreeRequest(kind, _numbers(kind, numbers), limits.nodes), verifier
    except SequoiaError as problem:
        raise type(problem)(f"Lane {place}: {problem}") from None


def _numbers(kind: Any, text: Any) -> tuple[Any, ...]:
    """The numbers of a shape, typed as one text such as "64, 8"; shapes that read a text
    themselves get it whole."""
    if not isinstance(kind, str) or kind not in SHAPES:
        raise BadTree(
            f"tree: {shown(kind)} is not the name of a shape; known are {', '.join(SHAPES)}"
        )
    fields = SHAPES[kind].fields
    if not fields or kind in TEXTS:
        return (text,)[: len(fields)]
    parts = text.replace(",", " ").split() if isinstance(text, str) and len(text) <= 100 else []
    if len(parts) != len(fields) or not all(
        part.isascii() and part.isdigit() and len(part) < 7 for part in parts
    ):
        wanted = "a whole number such as" if len(fields) == 1 else "whole numbers such as"
        raise BadTree(
            f"{', '.join(fields)}: {shown(text) if text else 'nothing is typed'}; wanted: {wanted} "
            f"{', '.join(map(str, SHAPES[kind].start))}"
        )
    return tuple(map(int, parts))


def _named(lanes: Sequence[tuple[TreeRequest, str]]) -> tuple[LaneRequest, ...]:
    """The lanes with names that tell them apart."""
    names = [
        SHAPES[tree_request.kind].name
        + f", {VERIFIER[verifier]}" * (verifier != "sequoia" and tree_request.kind != "plain")
        for tree_request, verifier in lanes
    ]
    numbered = [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
    return tuple(
        LaneRequest(name, tree_request, verifier)
        for name, (tree_request, verifier) in zip(numbered, lanes, strict=True)
    )
