"""The description of a run or a race. Its values are not required to be true, only of a form that a
page can show. All fields may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetPydanticSchema, with_config
from typing_extensions import TypedDict

from sequoia.algorithm.sampling_params import GREATEST_SEED, MOST_TOKENS
from sequoia.checked_types import (
    CONFIG,
    Amount,
    Count,
    Listed,
    LongText,
    Name,
    Number,
    Probability,
    Seconds,
    Text,
    Truth,
    Words,
)
from sequoia.errors import BadTrace

Whole = Annotated[int, Field(strict=True)]
Label = Literal["measured", "recorded", "simulated"]
MAX_PROMPT_TOKENS = 1100


class Params(TypedDict, total=False):
    """The fields of SamplingParams."""

    temperature: Annotated[float, Field(strict=True, ge=0, le=5)]
    top_p: Annotated[float, Field(strict=True, ge=0, le=1)]
    max_new_tokens: Annotated[int, Field(strict=True, ge=1, le=MOST_TOKENS)]
    seed: Annotated[int, Field(strict=True, ge=0, le=GREATEST_SEED)]
    ignore_eos: Truth


class TreeMeta(TypedDict, total=False):
    """The tree of a run. description: in words. request: the kind, then its numbers or its text.
    why: why it is a chain, in words. rates: where the acceptance rates come from."""

    description: Words
    why: Words
    request: Annotated[Listed[Name | Whole | Number], Field(min_length=1, max_length=3)]
    nodes: Count
    levels: Count
    rates: Literal["measured", "recorded"]


def require_inside(value: float, low: float, high: float, what: str) -> None:
    """Raises BadTrace unless `value` is inside its interval, from `low` to `high`."""
    if not low <= value <= high:
        raise BadTrace(f"{what}: {value:g} is outside its interval, {low:g} to {high:g}")


class Opening(TypedDict):
    """Speed-ups on all prompts that were tried for the run that the page opens with: median, range
    of the middle 80 %, and (name, speed-up) of each."""

    median: Amount
    range: tuple[Amount, Amount]
    prompts: Listed[tuple[Name, Amount]]


def _with_median(found: Opening) -> Opening:
    require_inside(found["median"], *found["range"], "opening: median")
    return found


class PaperResult(TypedDict):
    """The best speed-up in the paper with the models and the card of a simulated clock."""

    ratio: Amount
    target: Name
    draft: Name
    machine: Name
    source: Name


class Elsewhere(TypedDict):
    """A machine where a tree is predicted to beat the best chain, and by how much."""

    clock: Name
    ratio: Annotated[float, Field(strict=True, ge=1, le=1000)]


@with_config(CONFIG)
class SharedMeta(TypedDict, total=False):
    """What a run and a race have in common. clock: the machine for which times were simulated.
    hypothetical: whether its times are of other models. floor_seconds: in which the target's
    weights are read from memory once; 0 or missing if not known."""

    label: Label
    title: Text
    about: Words
    target: Name
    draft: Name
    device: Text
    dtype: Name
    prompt: LongText
    prompt_tokens: Annotated[Listed[tuple[Name, Truth]], Field(max_length=MAX_PROMPT_TOKENS)]
    chat: Truth
    params: Params
    date: Name
    clock: Name
    clock_machine: Name
    clock_note: Words
    hypothetical: Truth
    paper: PaperResult
    floor_seconds: Seconds
    versions: Annotated[dict[Name, Name], Field(max_length=32)]


class RunFields(SharedMeta, total=False):
    """acceptance: the rates by rank that the tree was planned from."""

    verifier: Name
    tree: TreeMeta
    acceptance: Annotated[Listed[Probability], Field(max_length=1024)]


class RateSource(TypedDict):
    """Where acceptance rates come from. prompt_name: of the lane that was planned with them. kind:
    the kind of text that they were counted on, such as "code". has_prompt: whether the lane's
    prompt is among these texts."""

    prompt_name: Name
    label: Literal["measured", "recorded"]
    kind: Name
    has_prompt: Truth


class RatesNote(TypedDict):
    """The acceptance rates that trees are planned from."""

    code: Literal["rates"]
    sources: Annotated[Listed[RateSource], Field(min_length=1)]


class ChainNote(TypedDict):
    """The predicted speed-up of the best chain, which is no lane of this race."""

    code: Literal["missing_chain"]
    prompt_name: Name
    nodes: Count
    speedup: Amount
    hypothetical: Truth


class RepeatNote(TypedDict):
    """A lane that is left out because its tree is that of the lane `other`, or a single node."""

    code: Literal["repeat"]
    prompt_name: Name
    lane: Name
    other: Name
    nodes: Count
    levels: Count


class InsteadNote(TypedDict):
    """The lanes that take the place of those left out."""

    code: Literal["instead"]
    lanes: Listed[Name]


Note = Annotated[RatesNote | ChainNote | RepeatNote | InsteadNote, Field(discriminator="code")]


class RaceFields(SharedMeta, total=False):
    """notes: about the choice of the trees. opening: only of the run of the film."""

    opening: Annotated[Opening, AfterValidator(_with_median)]
    second_prompt: LongText
    notes: Annotated[Listed[Note], Field(max_length=8)]
    elsewhere: Elsewhere


# in Python, these are dictionaries with the fields above
RunMeta = Annotated[
    Mapping[str, Any], GetPydanticSchema(lambda _, handler: handler.generate_schema(RunFields))
]
RaceMeta = Annotated[
    Mapping[str, Any], GetPydanticSchema(lambda _, handler: handler.generate_schema(RaceFields))
]
