"""The shapes of tree a visitor can ask for. A wish is checked when it is made; a pair
turns it into a Tree."""

from __future__ import annotations

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
from sequoia.measuring.defaults import SLACK
from sequoia.validate_input import shown, whole
from ui.shared.labels import with_labels


@dataclass(frozen=True)
class Shape:
    """One entry of the menus. `name` is short, for lanes; with `more` behind it it says what it is,
    and `about` is a sentence. `how`: how such a tree came about, with places for its numbers.
    `fields` name its numbers, `start` are the values they begin with; `make` builds the tree where
    no pair is needed for it."""

    name: str
    more: str
    how: str
    fields: tuple[str, ...] = ()
    start: tuple[Any, ...] = ()
    make: Callable[..., Tree] | None = None
    about: str = ""

    @property
    def label(self) -> str:
        return self.name + self.more


# What the messages of Tree begin with, and the label of the field that is meant.
_LABELS = {
    "nodes of the chain": "Nodes",
    "sequences": "Sequences",
    "length of the sequences": "Tokens in each",
    "children a node": "Children a node",
    "levels": "Levels",
    "branching": "Children, level by level",
    "parents": "Parent of each node",
}


def _whole(value: Any, label: str, least: int, most: int) -> None:
    try:
        whole(value, label, least, most, BadTree)
    except BadTree as problem:
        raise with_labels(problem, {label: label}) from None


def _branching(text: Any) -> Tree:
    if not isinstance(text, str) or len(text) > 200:
        raise BadTree(f"branching: {shown(text)}; wanted are whole numbers such as 4, 2, 2")
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts):
        raise BadTree(
            f"branching: {shown(text)}; wanted is a whole number a level, such as 4, 2, 2, each "
            f"from 1 to {MAX_NODES}"
        )
    return Tree.from_branching([int(part) for part in parts])


def _listed(text: Any) -> Tree:
    if not isinstance(text, str) or len(text) > 8 * MAX_NODES:
        raise BadTree(
            f"parents: {shown(text)}; wanted is the parent of each node, such as -1 0 0 1"
        )
    parts = text.replace(",", " ").replace("−", "-").split()
    if not all(part.removeprefix("-").isdecimal() and part.isascii() for part in parts):
        raise BadTree(f"parents: {shown(text)}; wanted is a whole number a node, such as -1 0 0 1")
    return Tree.from_parents([int(part) for part in parts])


SHAPES = {
    "planned": Shape(
        "Sequoia",
        ", planned for this machine",
        "planned for this machine",
        about=(
            "Of the trees predicted within 1 % of the fastest here, the one with the most tokens a "
            "step; on a small machine often a mere chain."
        ),
    ),
    "best": Shape(
        "Sequoia, sized",
        " as given",
        "best of its size",
        ("Nodes", "Levels at most"),
        (64, 8),
        about="The tree of that size with the most tokens a step, by dynamic programming.",
    ),
    "chain": Shape(
        "Chain",
        "",
        "chain",
        ("Nodes",),
        (6,),
        Tree.chain,
        about="One guess after the other: speculative decoding without a tree.",
    ),
    "sequences": Shape(
        "k sequences",
        "",
        "{} sequences of {}",
        ("Sequences", "Tokens in each"),
        (4, 5),
        Tree.sequences,
        about="Several chains beside each other, all from the root.",
    ),
    "kary": Shape(
        "k-ary",
        " tree",
        "{}-ary",
        ("Children a node", "Levels"),
        (2, 5),
        Tree.kary,
        about="As many children at every node, level after level.",
    ),
    "branching": Shape(
        "SpecInfer tree",
        ": children by level",
        "branching {}",
        ("Children, level by level",),
        ("4, 2, 2, 1",),
        _branching,
        about="So many children at every node of the first level, the second, and so on.",
    ),
    "lab": Shape(
        "Lab tree",
        ", or any other",
        "given node by node",
        ("Parent of each node",),
        ("-1 0 0 1",),
        _listed,
        about=(
            "Drawn in the lab, or typed: the number of each node’s parent, -1 for the "
            "root, which is node 0."
        ),
    ),
    "replanned": Shape(
        "Replanned",
        " while decoding",
        "replanned while decoding",
        ("Nodes at most", "Levels at most"),
        (64, 12),
        about="Planned anew every few steps, from what was accepted in this run so far.",
    ),
    "dynamic": Shape(
        "Dynamic",
        ", grown with the draft",
        "dynamic, grown with the draft",
        ("Nodes at most", "Levels at most"),
        (64, 12),
        about="Grown anew in every step, where the draft itself is sure.",
    ),
    "plain": Shape(
        "Plain",
        " decoding, one node",
        "plain decoding",
        make=lambda: Tree.chain(1),
        about="One token a step and no draft: what all others are held against.",
    ),
}


TEXTS = ("branching", "lab")  # kinds whose one field is a text


def entry_of(tree: Tree) -> tuple[str, str, str]:
    """The entry of the menus that makes `tree`, plain decoding or a chain where it is one, else
    node by node: its kind, what its fields then hold, and the tree in words."""
    if len(tree) == 1:
        return "plain", "", "plain decoding"
    if tree == Tree.chain(len(tree)):
        return "chain", str(len(tree)), f"a chain of {len(tree)} nodes"
    return "lab", " ".join(map(str, tree.parents)), f"a tree of {len(tree)} nodes"


@dataclass(frozen=True)
class ChosenTree:
    """What a request came to: one tree, or what gives each step its own; in words how it came
    about; and the pair's acceptance it was fitted to, None where its shape alone was asked for."""

    tree: Tree | TreeChoice
    how: str
    acceptance: Acceptance | None = None


@dataclass(frozen=True)
class TreeRequest:
    """A shape with its numbers. Raises BadTree where they make no tree or one of more
    than `most` nodes."""

    kind: str
    numbers: tuple[Any, ...] = ()
    most: int = MAX_NODES

    def __post_init__(self) -> None:
        if self.kind not in SHAPES:
            raise BadTree(f"unknown tree {shown(self.kind)}; known are {', '.join(SHAPES)}")
        shape = SHAPES[self.kind]
        object.__setattr__(self, "numbers", tuple(self.numbers[: len(shape.fields)]))
        if self.kind in ("best", "replanned", "dynamic"):
            nodes, levels = self.numbers
            _whole(nodes, shape.fields[0], 1, self.most)
            _whole(levels, shape.fields[1], 1 if nodes == 1 else 2, MAX_NODES)
        elif shape.make:
            self._sized(self._made(shape.make))

    def _made(self, make: Callable[..., Tree]) -> Tree:
        try:
            return make(*self.numbers)
        except BadTree as problem:
            raise with_labels(problem, _LABELS) from None

    def tree(self, pair: Pair, params: SamplingParams, verifier: str, prompt: str) -> ChosenTree:
        """The tree for continuing `prompt`. For all but named shapes something may be measured
        first."""
        if self.kind == "planned":
            plan = default_plan(pair, params, verifier, [prompt], self.most)
            return ChosenTree(plan.tree, self._fitted_words(plan.source), plan.acceptance)
        if self.kind in ("best", "replanned", "dynamic"):
            acceptance, source = acceptance_of(pair, params, verifier, [prompt])
            tree = self._fitted(pair, acceptance.smoothed(), params)
            return ChosenTree(tree, self._fitted_words(source), acceptance)
        shape = SHAPES[self.kind]
        return ChosenTree(shape.make(*self.numbers), self._words())  # pyright: ignore[reportOptionalCall]

    def _fitted(
        self, pair: Pair, acceptance: Acceptance, params: SamplingParams
    ) -> Tree | TreeChoice:
        nodes, levels = self.numbers
        if self.kind == "best":
            return best_tree(acceptance, nodes, levels)
        if self.kind == "replanned":
            return Replanned(acceptance, machine(pair), nodes, levels, slack=SLACK)
        return Dynamic(acceptance, machine(pair), params.temperature, nodes, levels)

    @property
    def rule(self) -> str:
        """Which of several trees it is, where its name does not say it."""
        return (
            f"most tokens a step within {SLACK * 100:g} % of the fastest"
            if self.kind == "planned"
            else ""
        )

    def _fitted_words(self, source: str) -> str:
        return f"{self._words()}, from {source} acceptance"

    def _words(self) -> str:
        return SHAPES[self.kind].how.format(*self.numbers)

    def _sized(self, tree: Tree) -> Tree:
        if len(tree) > self.most:
            raise BadTree(f"a tree of {len(tree)} nodes; allowed are 1 to {self.most}")
        return tree
