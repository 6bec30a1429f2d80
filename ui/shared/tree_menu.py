"""The tree shapes a visitor can choose. A TreeRequest is validated when it is made; with a pair it
becomes a Tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sequoia import (
    Acceptance,
    Dynamic,
    Pair,
    Replanned,
    SamplingParams,
    Tree,
    TreeChoice,
    acceptance_of,
    best_tree,
    default_plan,
    machine,
)
from sequoia.algorithm.tree import MAX_NODES
from sequoia.errors import BadTree
from sequoia.measuring.defaults import SLACK, default_chain, known_acceptance
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.validate_input import shown, whole
from ui.shared.labels import with_labels


@dataclass(frozen=True)
class Shape:
    """One entry of the menus. `name` is the short label, for lanes; `name` + `more` is the long
    one, and `about` describes the shape in a sentence. `how`: a description of such a tree, with
    placeholders for its numbers. `fields`: labels of its numbers; `start`: their defaults. `make`
    builds the tree if no pair is needed for it. `menu`: the long label, where it is another one."""

    name: str
    more: str
    how: str
    fields: tuple[str, ...] = ()
    start: tuple[Any, ...] = ()
    make: Callable[..., Tree] | None = None
    about: str = ""
    menu: str = ""

    @property
    def label(self) -> str:
        return self.menu or self.name + self.more


_NUMBER = re.compile("-?[0-9]{1,6}")
# What the messages of Tree begin with, and the label of the field they are about.
_LABELS = {
    "nodes of the chain": "Nodes",
    "sequences": "Sequences",
    "length of the sequences": "Tokens in each",
    "children a node": "Children per node",
    "levels": "Levels",
    "branching": "Children, level by level",
    "parents": "Parent of each node",
}


def _whole(value: Any, label: str, least: int, most: int) -> None:
    try:
        whole(value, label, least, most, BadTree)
    except BadTree as problem:
        raise with_labels(problem, {label: label}) from None


def typed_numbers(text: Any, longest: int) -> list[int] | None:
    """The whole numbers in `text`, separated by commas or spaces; None if it is anything else,
    or has more than `longest` characters."""
    if not isinstance(text, str) or len(text) > longest:
        return None
    parts = text.replace(",", " ").replace("−", "-").split()
    return list(map(int, parts)) if all(map(_NUMBER.fullmatch, parts)) else None


def _branching(text: Any) -> Tree:
    numbers = typed_numbers(text, 200)
    if not numbers or not all(1 <= number <= MAX_NODES for number in numbers):
        raise BadTree(
            f"branching: {shown(text)}; enter one whole number per level, such as 4, 2, 2, each "
            f"from 1 to {MAX_NODES}"
        )
    return Tree.from_branching(numbers)


def _listed(text: Any) -> Tree:
    numbers = typed_numbers(text, 8 * MAX_NODES)
    if numbers is None:
        raise BadTree(f"parents: {shown(text)}; enter one whole number per node, such as -1 0 0 1")
    return Tree.from_parents(numbers)


# A tree that branches enough to be worth watching.
WIDE_NODES = 48
WIDE_LEVELS = 6  # few, so that the nodes go into breadth
LEAST_WIDE = 32  # a planned tree of as many nodes is shown instead

SHAPES = {
    "planned": Shape(
        "Sequoia",
        ", planned for this machine",
        "planned for this machine",
        about=(
            "The tree predicted to be fastest. Among trees within 1% of the fastest, the one "
            "with the most expected tokens per step. On small machines this is often just a chain."
        ),
    ),
    "wide": Shape(
        "Wide tree",
        "",
        "best of {} nodes on at most {} levels, to show a tree",
        about=(
            f"The planned tree if it has at least {LEAST_WIDE} nodes; otherwise a tree of "
            f"{WIDE_NODES} nodes on {WIDE_LEVELS} levels, which may be slower than a chain."
        ),
        menu="Show me a tree",
    ),
    "best": Shape(
        "Sequoia, sized",
        " as given",
        "best of its size",
        ("Nodes", "Max levels"),
        (64, 8),
        about="The tree of this size with the most expected tokens per step (dynamic programming).",
    ),
    "chain": Shape(
        "Chain",
        "",
        "chain",
        ("Nodes",),
        (6,),
        Tree.chain,
        about="One guess after another: speculative decoding without a tree.",
    ),
    "tuned_chain": Shape(
        "Tuned chain",
        ", planned for this machine",
        "length planned for this machine",
        about=(
            "The chain predicted to be fastest here. Its length is planned like the tree, so a "
            "race of the two shows what branching adds."
        ),
    ),
    "sequences": Shape(
        "k sequences",
        "",
        "{} sequences of {}",
        ("Sequences", "Tokens in each"),
        (4, 5),
        Tree.sequences,
        about="Several chains side by side, all starting at the root.",
    ),
    "kary": Shape(
        "k-ary",
        " tree",
        "{}-ary",
        ("Children per node", "Levels"),
        (2, 5),
        Tree.kary,
        about="The same number of children at every node.",
    ),
    "branching": Shape(
        "SpecInfer tree",
        ": children by level",
        "branching {}",
        ("Children, level by level",),
        ("4, 2, 2, 1",),
        _branching,
        about="The number of children of every node on the first level, the second, and so on.",
    ),
    "lab": Shape(
        "Lab tree",
        ", or any other",
        "given node by node",
        ("Parent of each node",),
        ("-1 0 0 1",),
        _listed,
        about=(
            "Drawn in the lab or typed: the number of each node’s parent. The root is node 0; its "
            "parent is -1."
        ),
    ),
    "replanned": Shape(
        "Replanned",
        " while decoding",
        "replanned while decoding",
        ("Max nodes", "Max levels"),
        (64, 12),
        about="Planned again every few steps, from the acceptance measured in this run so far.",
    ),
    "dynamic": Shape(
        "Dynamic",
        " tree, a new one every step",
        "dynamic tree",
        ("Max nodes", "Max levels"),
        (64, 12),
        about="A new tree every step, larger where the draft is confident.",
    ),
    "plain": Shape(
        "Plain",
        " decoding, one node",
        "plain decoding",
        make=lambda: Tree.chain(1),
        about="One token per step and no draft: the baseline for all others.",
    ),
}


TEXTS = ("branching", "lab")  # kinds whose only field is a text
FITTED = ("best", "replanned", "dynamic")  # kinds fitted to acceptance, with a size cap
PLANNED = ("planned", "tuned_chain")  # kinds whose size is planned too


def tree_choices(clock: str = "") -> list[tuple[str, str]]:
    """The entries of a menu of shapes: what is shown, and the kind. clock: the name of the clock
    that trees are planned for; empty for this machine."""
    labels = {kind: shape.label for kind, shape in SHAPES.items()}
    if clock:
        labels["planned"] = f"{SHAPES['planned'].name}, planned for {clock}"
    return [(label, kind) for kind, label in labels.items()]


def listed_numbers(kind: Any, text: Any) -> tuple[Any, ...]:
    """The numbers of a shape, typed as one text such as "64, 8". Shapes with a text field get the
    text unchanged."""
    if not isinstance(kind, str) or kind not in SHAPES:
        raise BadTree(f"tree: {shown(kind)} is not the name of a shape; known: {', '.join(SHAPES)}")
    fields = SHAPES[kind].fields
    if not fields or kind in TEXTS:
        return (text,)[: len(fields)]
    numbers = typed_numbers(text, 100)
    if numbers is None or len(numbers) != len(fields) or min(numbers) < 0:
        wanted = "a whole number" if len(fields) == 1 else f"{len(fields)} whole numbers"
        typed = f"{shown(text)}; " if text else ""
        raise BadTree(
            f"{', '.join(fields)}: {typed}enter {wanted} such as "
            f"{', '.join(map(str, SHAPES[kind].start))}"
        )
    return tuple(numbers)


def _texts(prompt: str) -> list[str]:
    return [prompt] if prompt else []


def _is_wide(tree: Tree) -> bool:
    return len(tree) >= LEAST_WIDE and tree != Tree.chain(len(tree))


def entry_of(tree: Tree) -> tuple[str, str, str]:
    """The menu entry that makes `tree` (plain decoding, a chain, or node by node): its kind, the
    value of its field, and the tree in words."""
    if len(tree) == 1:
        return "plain", "", "plain decoding"
    if tree == Tree.chain(len(tree)):
        return "chain", str(len(tree)), f"a chain of {len(tree)} nodes"
    return "lab", " ".join(map(str, tree.parents)), f"a tree of {len(tree)} nodes"


@dataclass(frozen=True)
class ChosenTree:
    """The result of a request: one tree, or a TreeChoice that makes one for each step. `how`: a
    description in words. `acceptance`: the one it was fitted to, None for a fixed shape, and
    `source`: where that comes from, such as "recorded code"."""

    tree: Tree | TreeChoice
    how: str
    acceptance: Acceptance | None = None
    source: str = ""


@dataclass(frozen=True)
class TreeRequest:
    """A shape with its numbers. Raises BadTree if they make no tree, or one of more than `most`
    nodes."""

    kind: str
    numbers: tuple[Any, ...] = ()
    most: int = MAX_NODES

    def __post_init__(self) -> None:
        if self.kind not in SHAPES:
            raise BadTree(f"unknown tree {shown(self.kind)}; known: {', '.join(SHAPES)}")
        shape = SHAPES[self.kind]
        object.__setattr__(self, "numbers", tuple(self.numbers[: len(shape.fields)]))
        if self.kind in FITTED:
            nodes, levels = self.numbers
            _whole(nodes, shape.fields[0], 1, self.most)
            _whole(levels, shape.fields[1], 1 if nodes == 1 else 2, MAX_NODES)
        elif shape.make:
            nodes = len(self._made(shape.make))
            if nodes > self.most:
                raise BadTree(f"a tree of {nodes} nodes; expected 1 to {self.most}")

    def _made(self, make: Callable[..., Tree]) -> Tree:
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
        """The tree for continuing `prompt` (empty: for the usual kind of text), planned for the
        machine of `clock`, or for this one without it. A planned or fitted tree may need a
        measurement first."""
        if self.kind in PLANNED:
            return self._planned(pair, params, verifier, prompt, clock)
        if self.kind == "wide":
            return self._wide(pair, params, verifier, prompt, clock)
        if self.kind in FITTED:
            acceptance, source = acceptance_of(pair, params, verifier, _texts(prompt))
            profile = clock.profile if clock else None
            tree = self._fitted(pair, acceptance.smoothed(), params, profile)
            words = f"{self._words()}, from {source} acceptance"
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
        """The tree for the usual kind of text, if no model has to run for it; of a tree that is
        replanned, the first. None for a dynamic tree, and while models load (no `pair`)."""
        if make := SHAPES[self.kind].make:
            return self._made(make)
        if pair is None or self.kind == "dynamic" or not known_acceptance(pair, params, verifier):
            return None
        if clock is None and pair.measured.profile is None:
            return None
        tree = self.tree(pair, params, verifier, "", clock).tree
        tree = tree.tree if isinstance(tree, Replanned) else tree
        return tree if isinstance(tree, Tree) else None

    def _planned(
        self,
        pair: Pair,
        params: SamplingParams,
        verifier: str,
        prompt: str,
        clock: SimulatedClock | None,
    ) -> ChosenTree:
        plan_tree = default_chain if self.kind == "tuned_chain" else default_plan
        asked = (pair, params, verifier, _texts(prompt))
        words = self._words()
        if clock is None:
            plan = plan_tree(*asked, self.most)
        else:
            words = words.replace("this machine", clock.name)
            plan = plan_tree(*asked, profile=clock.profile)
            if (best := len(plan.tree)) > self.most:
                plan = plan_tree(*asked, self.most, clock.profile)
                words += f", limited to {self.most} nodes here ({best} would be best)"
        if plan.predicted_speedup < 1:
            words += " (slower than plain decoding, predicted)"
        how = f"{words}, from {plan.source} acceptance"
        return ChosenTree(plan.tree, how, plan.acceptance, plan.source)

    def _wide(
        self,
        pair: Pair,
        params: SamplingParams,
        verifier: str,
        prompt: str,
        clock: SimulatedClock | None,
    ) -> ChosenTree:
        """The planned tree if it is wide, or the best one of a fixed size."""
        planned = TreeRequest("planned", (), self.most)._planned(
            pair, params, verifier, prompt, clock
        )
        if isinstance(planned.tree, Tree) and _is_wide(planned.tree):
            return planned
        acceptance, source = acceptance_of(pair, params, verifier, _texts(prompt))
        nodes = min(WIDE_NODES, self.most)
        tree = best_tree(acceptance.smoothed(), nodes, WIDE_LEVELS)
        words = SHAPES["wide"].how.format(nodes, WIDE_LEVELS)
        return ChosenTree(tree, f"{words}, from {source} acceptance", acceptance, source)

    def _fitted(
        self,
        pair: Pair,
        acceptance: Acceptance,
        params: SamplingParams,
        profile: HardwareProfile | None,
    ) -> Tree | TreeChoice:
        """profile: times to plan for; None for those of this machine."""
        nodes, levels = self.numbers
        if self.kind == "best":
            return best_tree(acceptance, nodes, levels)
        times = profile or machine(pair)
        if self.kind == "replanned":
            return Replanned(acceptance, times, nodes, levels, slack=SLACK)
        return Dynamic(acceptance, times, params.temperature, nodes, levels)

    @property
    def rule(self) -> str:
        """How the tree is chosen, if its name does not say so."""
        within = f"within {SLACK * 100:g}% of the fastest"
        if self.kind == "planned":
            return f"among trees {within}, the one with the most expected tokens per step"
        return f"among chains {within}, the longest" if self.kind == "tuned_chain" else ""

    def _words(self) -> str:
        return SHAPES[self.kind].how.format(*self.numbers)
