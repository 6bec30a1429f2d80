"""The tree that a visitor asks for: a shape and its numbers, such as 64 nodes on at most 8 levels.
A TreeRequest is validated when it is made; its method `tree` makes the tree for a pair of models
(target and draft)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sequoia import (
    Acceptance,
    DynamicChoice,
    Pair,
    SamplingParams,
    Tree,
    TreeChoice,
    acceptance_of,
    best_tree,
    default_plan,
    machine,
)
from sequoia.algorithm.tree import MAX_NODES
from sequoia.algorithm.verifiers import verifier_named
from sequoia.errors import BadTree
from sequoia.measuring.defaults import SLACK, default_chain, known_acceptance
from sequoia.planning.plan_for_machine import Plan
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.race_file import Rule
from sequoia.validate_input import shown, whole
from ui.shared.labels import with_labels
from ui.shared.tree_menu import FITTED, LEAST_WIDE, PLANNED, SHAPES, WIDE_LEVELS, WIDE_NODES
from ui.words.plans import planned_words, rates_words

# The name that an error message about a value begins with -> the label of the value's field.
_LABELS = {
    "nodes of the chain": "Nodes",
    "sequences": "Sequences",
    "length of the sequences": "Tokens in each",
    "children per node": "Children per node",
    "levels": "Levels",
    "branching": "Children, level by level",
    "parents": "Parent of each node",
}


@dataclass(frozen=True)
class ChosenTree:
    """The result of a request: one tree, or a TreeChoice that makes one for each step.

    how: the tree in words. acceptance: the vector that the tree was planned from, before smoothing.
    source: where that vector comes from, such as "recorded code" for one recorded on Python code.
    For a fixed shape, such as a chain of 6 nodes, `acceptance` is None and `source` is empty. rule:
    how a planned tree or chain was chosen (see `LaneLog`); empty for others. pair: the target with
    the draft that fills the tree, if that is not the pair's own; otherwise None.
    """

    tree: TreeChoice
    how: str
    acceptance: Acceptance | None = None
    source: str = ""
    rule: Rule = ""
    pair: Pair | None = None

    @property
    def label(self) -> str:
        """Of the acceptance vector: "measured" or "recorded"; empty for a fixed shape."""
        return self.source.partition(" ")[0]


@dataclass(frozen=True)
class _Run:
    """The run that a tree is planned for. texts: a list with the prompt, or an empty list to plan
    for the pair's usual kind of text. clock: the simulated machine; None for this machine."""

    pair: Pair
    params: SamplingParams
    verifier: str
    texts: list[str]
    clock: SimulatedClock | None

    @property
    def acceptance(self) -> tuple[Acceptance, str]:
        """The acceptance vector and its source, such as "recorded code"."""
        return acceptance_of(self.pair, self.params, self.verifier, self.texts)


@dataclass(frozen=True)
class TreeRequest:
    """A shape and its numbers. kind: a key of SHAPES. numbers: the values of the shape's fields, in
    order. Surplus values are dropped. Raises BadTree if the tree cannot be made, or would have more
    than `most` nodes."""

    kind: str
    numbers: tuple[Any, ...] = ()
    most: int = MAX_NODES

    def __post_init__(self) -> None:
        if self.kind not in SHAPES:
            raise BadTree(f"unknown tree {shown(self.kind)}; known: {', '.join(SHAPES)}")
        shape = SHAPES[self.kind]
        object.__setattr__(self, "numbers", tuple(self.numbers[: len(shape.fields)]))
        if len(self.numbers) < len(shape.fields):
            raise BadTree(
                f"{shape.name}: {len(self.numbers)} values; expected {len(shape.fields)} "
                f"({', '.join(shape.fields)})"
            )
        if self.kind in FITTED:
            nodes, levels = self.numbers
            _whole(nodes, shape.fields[0], 1, self.most)
            _whole(levels, shape.fields[1], 1 if nodes == 1 else 2, MAX_NODES)
        elif shape.make:
            nodes = len(self._made(shape.make))
            if nodes > self.most:
                raise BadTree(f"a tree of {nodes} nodes; expected 1 to {self.most}")

    def _made(self, make: Callable[..., Tree]) -> Tree:
        """The tree that `make` builds from the numbers. Raises BadTree. A message about the value
        of a field begins with the field's label."""
        try:
            return make(*self.numbers)
        except BadTree as problem:
            raise with_labels(problem, _LABELS) from None

    def tree(
        self,
        pair: Pair,
        params: SamplingParams,
        verifier: str,
        prompt: str,
        clock: SimulatedClock | None = None,
    ) -> ChosenTree:
        """The tree for decoding `prompt`. If `prompt` is empty, the tree for the pair's usual kind
        of text. clock: the simulated machine to plan for; None for this machine. Acceptance and
        step times are measured first if they are needed and not known yet."""
        run = _Run(pair, params, verifier, [prompt] if prompt else [], clock)
        if self.kind in PLANNED:
            return self._planned(run)
        if self.kind == "wide":
            return self._wide(run)
        if self.kind == "lookup":
            return self._looked_up(run)
        if self.kind in FITTED:
            acceptance, source = run.acceptance
            tree = self._fitted(run, acceptance.smoothed())
            words = f"{self._words()}, {rates_words(source)}"
            return ChosenTree(tree, words, acceptance, source)
        shape = SHAPES[self.kind]
        return ChosenTree(shape.make(*self.numbers), self._words())  # pyright: ignore[reportOptionalCall]

    def known_tree(
        self,
        pair: Pair | None,
        params: SamplingParams,
        verifier: str,
        clock: SimulatedClock | None = None,
    ) -> Tree | None:
        """The tree for the pair's usual kind of text, found without running a model. pair: None
        while models load.

        For a fixed shape, the tree is always known. For a tree that depends on the text, the result
        is always None. For other shapes, it is None while the acceptance or the step times are
        unknown."""
        if make := SHAPES[self.kind].make:
            return self._made(make)
        if (
            pair is None
            or self.kind in ("dynamic", "lookup")
            or not known_acceptance(pair, params, verifier)
        ):
            return None
        if clock is None and pair.measured.profile is None:
            return None
        tree = self.tree(pair, params, verifier, "", clock).tree
        return tree if isinstance(tree, Tree) else None

    def _planned(self, run: _Run) -> ChosenTree:
        plan_tree = default_chain if self.kind == "tuned_chain" else default_plan
        asked = (run.pair, run.params, run.verifier, run.texts)
        limit = None
        if run.clock is None:
            plan = plan_tree(*asked, self.most)
        else:
            plan = plan_tree(*asked, profile=run.clock.profile)
            if (best := len(plan.tree)) > self.most:
                plan = plan_tree(*asked, self.most, run.clock.profile)
                limit = self.most, best
        clock = run.clock.name if run.clock else ""
        how = planned_words(
            self._words(), plan.source, clock, limit, slower=plan.predicted_speedup < 1
        )
        how += " under Sequoia's rule" * verifier_named(run.verifier).from_leaves
        return ChosenTree(plan.tree, how, plan.acceptance, plan.source, self._rule(plan))

    def _wide(self, run: _Run) -> ChosenTree:
        """The planned tree if it is wide. Otherwise the best tree of WIDE_NODES nodes, or of `most`
        nodes if `most` is smaller."""
        planned = TreeRequest("planned", (), self.most)._planned(run)
        if isinstance(planned.tree, Tree) and _is_wide(planned.tree):
            return planned
        acceptance, source = run.acceptance
        nodes = min(WIDE_NODES, self.most)
        tree = best_tree(acceptance.smoothed(), nodes, WIDE_LEVELS)
        words = SHAPES["wide"].how.format(nodes, WIDE_LEVELS)
        return ChosenTree(tree, f"{words}, {rates_words(source)}", acceptance, source)

    def _looked_up(self, run: _Run) -> ChosenTree:
        """The tree planned for a lookup in the text instead of the pair's draft. It is a chain if
        plain decoding is predicted to be faster."""
        pair = run.pair.with_lookup()
        asked = (pair, run.params, run.verifier, run.texts, self.most)
        plan = default_plan(*asked)
        plan = plan if len(plan.tree) > 1 else default_chain(*asked)
        words = f"{self._words()}: at most {len(plan.tree)} nodes, {rates_words(plan.source)}"
        tree = pair.draft.offered(plan.tree)
        return ChosenTree(tree, words, plan.acceptance, plan.source, pair=pair)

    def _fitted(self, run: _Run, acceptance: Acceptance) -> TreeChoice:
        nodes, levels = self.numbers
        if self.kind == "best":
            return best_tree(acceptance, nodes, levels)
        times = machine(run.pair)  # a dynamic tree cannot be timed on a simulated clock
        return DynamicChoice(acceptance, times, run.params.temperature, nodes, levels)

    def _rule(self, plan: Plan) -> Rule:
        """The field `rule` of ChosenTree. Empty if a tree within SLACK of this plan could be slower
        than plain decoding. Such trees were not considered, so the words could be wrong."""
        if plan.predicted_speedup * (1 - SLACK) < 1:
            return ""
        return "chains" if self.kind == "tuned_chain" else "trees"

    def _words(self) -> str:
        return SHAPES[self.kind].how.format(*self.numbers)


def _whole(value: Any, label: str, least: int, most: int) -> None:
    """Raises BadTree if `value` is not a whole number from `least` to `most`. If the field is
    empty, the message asks for a number."""
    try:
        whole(value, label, least, most, BadTree)
    except BadTree as problem:
        raise with_labels(problem, {label: label}) from None


def _is_wide(tree: Tree) -> bool:
    """Whether `tree` shows branching: it has at least LEAST_WIDE nodes and is not a chain."""
    return len(tree) >= LEAST_WIDE and tree != Tree.chain(len(tree))
