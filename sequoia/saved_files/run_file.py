"""A run as one JSON file. The file contains the texts of all its tokens, so the run can be replayed
without the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import sub
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator, Field, TypeAdapter, with_config

from sequoia.algorithm.pictures import steps_svg
from sequoia.algorithm.residual_heads import MOST, ResidualHead
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.checked_types import CONFIG, MAX_STEPS, Many, Text, checked, json_of
from sequoia.errors import BadTrace
from sequoia.saved_files.run_meta import RunMeta
from sequoia.validate_input import (
    MAX_JSON_BYTES,
    as_file,
    items,
    read_file,
    require_size,
    shown,
)

T = TypeVar("T")
MAX_PIECES = 300_000  # texts of tokens; the usual tokenizers of language models have fewer
SUM = 1.001  # rounded probabilities may add up to this


def _checked_step(step: StepTrace) -> StepTrace:
    """`step`, unless its parts contradict each other."""
    tree, verdict = step.tree, step.verdict
    what = f"step {step.index}"
    if not len(step.tokens) == len(step.draft_p) == len(step.target_p) == len(tree):
        raise BadTrace(
            f"{what}: {len(step.tokens)} tokens, {len(step.draft_p)} draft_p, "
            f"{len(step.target_p)} target_p for a tree of {len(tree)} nodes"
        )
    _require_path(step)
    follows = (*(step.tokens[node] for node in verdict.path[1:]), verdict.bonus)
    if (
        not step.emitted
        or step.emitted != follows[: len(step.emitted)]
        or len(step.text) != len(step.emitted)
    ):
        raise BadTrace(
            f"{what}: the emitted tokens must be the accepted path and the bonus token, or the "
            "first few of these tokens, each with its text"
        )
    _require_heads(step.residual_heads, len(verdict.trials), what)
    return step


def _require_path(step: StepTrace) -> None:
    tree, (path, trials) = step.tree, (step.verdict.path, step.verdict.trials)
    what = f"step {step.index}"
    if max((*path, *(trial.node for trial in trials)), default=0) >= len(tree):
        raise BadTrace(f"{what}: the verdict names a node outside the tree of {len(tree)} nodes")
    if path != tree.path(path[-1] if path else 0):
        raise BadTrace(f"{what}: path {path[:8]} does not lead down the tree from its root")
    if any(trial.node == 0 or trial.token != step.tokens[trial.node] for trial in trials):
        raise BadTrace(f"{what}: a trial is not of a drafted token")


def _require_heads(heads: Sequence[ResidualHead], trials: int, what: str) -> None:
    if heads and len(heads) != trials + 1:
        raise BadTrace(
            f"{what}: {len(heads)} residual_heads; expected {trials + 1}, one for each trial and "
            "one for the token after them"
        )
    for head in heads:
        count = len(head.tokens)
        if not 0 < count <= MOST or len(head.p) != count or len(head.q) not in (0, count):
            raise BadTrace(
                f"{what}: a residual head of {count} tokens with {len(head.p)} p and "
                f"{len(head.q)} q; expected 1 to {MOST} tokens with one p each, and one q each or "
                "no q"
            )
        if max(sum(head.p), sum(head.q)) > SUM:
            raise BadTrace(f"{what}: the probabilities of a residual head add up to more than 1")


@with_config(CONFIG)
@dataclass(frozen=True)
class Run:
    """A recorded run.

    meta: a description of the run. pieces: for each token id, the text of that token alone. steps:
    with the texts of their tokens.

    The clock is the machine for which times were simulated, or "" if they were measured. A
    simulated run has the machine's name in `meta["clock"]`, and "simulated" in `meta["label"]`.
    Raises BadTrace if the clock of a step differs from the run's, or if `clock_of` rejects `meta`.
    """

    meta: RunMeta
    pieces: Annotated[
        Mapping[Annotated[int, Field(ge=0, le=2**31)], Text], Field(max_length=MAX_PIECES)
    ]
    steps: Many[Annotated[StepTrace, AfterValidator(_checked_step)]]

    def __post_init__(self) -> None:
        clock = clock_of(self.meta)
        if other := [step for step in self.steps if step.clock != clock]:
            raise BadTrace(
                f"step {other[0].index} has the clock {shown(other[0].clock)}, but the run has "
                f"{shown(clock)}; all steps of a run must have the run's clock"
            )

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """For each step, the text that each emitted token added."""
        return tuple(step.text for step in self.steps)

    def _repr_svg_(self) -> str:
        """The tokens of each step in a notebook; `import ui.notebook` shows the player instead."""
        emitted = [len(step.emitted) for step in self.steps]
        accepted = [len(step.verdict.path) - 1 for step in self.steps]
        guesses = [*map(min, accepted, emitted)]
        title = f"{sum(emitted)} tokens in {len(emitted)} steps, {self.meta.get('label', '')}"
        return steps_svg([*zip(guesses, map(sub, emitted, guesses), strict=True)], title)

    def to_dict(self) -> dict[str, Any]:
        """The content of the run's file as JSON values."""
        return orjson.loads(self.to_json())

    def to_json(self) -> str:
        """The text of a file that `from_json` reads. Raises BadTrace if it is too long, and
        ValueError for NaN or infinity."""
        return file_text("run", _saved_run(), self, numbered_trees(self.steps))

    @classmethod
    def from_json(cls, text: str) -> Run:
        """The run in `text`, the content of a run file. Raises BadTrace, and nothing else, if it is
        not complete and valid."""
        return read_file(text, "run", MAX_JSON_BYTES, BadTrace, _read)


def clock_of(meta: Mapping[str, Any]) -> str:
    """The clock of a run with this meta: the machine for which its times were simulated, or "" if
    they were measured. Raises BadTrace if there is a clock but the label is not "simulated"."""
    clock = meta.get("clock", "")
    if clock and meta.get("label") != "simulated":
        raise BadTrace(
            f"meta: label: {shown(meta.get('label'))}; a run with the clock {shown(clock)} must be "
            "labelled simulated"
        )
    return clock


# -- as JSON: the trees that steps refer to by number are beside the rest --------------------------


def numbered_trees(
    steps: Iterable[StepTrace], known: Mapping[Tree, int] | None = None
) -> dict[Tree, int]:
    """The number of each tree that `steps` use, after those `known`."""
    numbers = dict(known or {})
    for step in steps:
        numbers.setdefault(step.tree, len(numbers))
    return numbers


def file_text(name: str, adapter: TypeAdapter[Any], value: Any, trees: Mapping[Tree, int]) -> str:
    """`value` as a file of format "sequoia-{name}". Raises BadTrace if it is too large."""
    head = orjson.dumps(as_file({"trees": [tree.parents for tree in trees]}, name))
    data = head[:-1] + b"," + json_of(adapter, value, trees)[1:]
    require_size(data, name, MAX_JSON_BYTES, BadTrace)
    return data.decode()


def of_file(adapter: TypeAdapter[T], data: Mapping[str, Any]) -> T:
    """What `file_text` wrote as `data`. Raises BadTrace or BadTree."""
    content = {name: part for name, part in data.items() if name not in ("format", "version")}
    trees = items(content.pop("trees", None), "trees must be a list", MAX_STEPS, BadTrace)
    if len(trees) > MAX_STEPS:
        raise BadTrace(f"a file of more than {MAX_STEPS} trees")
    return checked(adapter, content, BadTrace, [Tree.from_parents(parents) for parents in trees])


def complete(run: Run) -> Run:
    """`run`, unless a step is missing or a token has no text."""
    for index, step in enumerate(run.steps):
        if step.index != index:
            raise BadTrace(f"steps.{index}.index: {step.index}; expected {index}")
    if unnamed := {token for step in run.steps for token in step.shown_tokens} - run.pieces.keys():
        raise BadTrace(f"token {min(unnamed)} is in a step, but its text is not among the pieces")
    return run


SavedRun = Annotated[Run, AfterValidator(complete)]


@cache
def _saved_run() -> TypeAdapter[Run]:
    return TypeAdapter(SavedRun)


@cache
def _steps() -> TypeAdapter[tuple[StepTrace, ...]]:
    return TypeAdapter(tuple[StepTrace, ...])


def steps_json(steps: Sequence[StepTrace], trees: Mapping[Tree, int]) -> orjson.Fragment:
    """`steps` as a part of JSON. trees: the number of each of their trees."""
    return orjson.Fragment(json_of(_steps(), tuple(steps), trees))


def _read(data: Mapping[str, Any]) -> Run:
    return of_file(_saved_run(), data)
