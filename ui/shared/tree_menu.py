"""The tree shapes a visitor can choose, with the texts of their menus and fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sequoia import Tree
from sequoia.algorithm.tree import MAX_NODES
from sequoia.algorithm.tree_formats import tree_of_json
from sequoia.errors import BadTree
from sequoia.validate_input import shown


@dataclass(frozen=True)
class Shape:
    """One entry of the menus."""

    name: str  # the short label
    more: str  # follows `name` in the long label
    how: str  # describes such a tree; may have placeholders for its numbers
    fields: tuple[str, ...] = ()  # labels of the numbers to type (or of one text, see TEXTS)
    start: tuple[Any, ...] = ()  # their defaults
    make: Callable[..., Tree] | None = None  # None if the tree depends on the acceptance
    about: str = ""  # explains the shape
    menu: str = ""  # the long label, if it is not `name` + `more`

    @property
    def label(self) -> str:
        """The long label."""
        return self.menu or self.name + self.more


_NUMBER = re.compile("-?[0-9]{1,6}")


def typed_numbers(text: Any, longest: int) -> list[int] | None:
    """The whole numbers in `text`, of at most six digits and separated by commas or spaces. None if
    `text` contains anything else or has more than `longest` characters."""
    if not isinstance(text, str) or len(text) > longest:
        return None
    parts = text.replace(",", " ").replace("−", "-").split()
    return list(map(int, parts)) if all(map(_NUMBER.fullmatch, parts)) else None


def _branching(text: Any) -> Tree:
    numbers = typed_numbers(text, 200)
    if not numbers or not all(1 <= number <= MAX_NODES for number in numbers):
        raise BadTree(
            f"branching: {shown(text)}; enter one whole number from 1 to {MAX_NODES} per level, "
            "such as 4, 2, 2"
        )
    return Tree.from_branching(numbers)


def _listed(text: Any) -> Tree:
    numbers = typed_numbers(text, 8 * MAX_NODES)
    if numbers is None:
        raise BadTree(f"parents: {shown(text)}; enter one whole number per node, such as -1 0 0 1")
    return Tree.from_parents(numbers)


# The shape "wide" is the planned tree if that is wide. Otherwise it is a tree of this size, which
# branches enough to be worth watching.
WIDE_NODES = 48
WIDE_LEVELS = 6  # few, so that the tree is wide
LEAST_WIDE = 32  # a planned tree with at least this many nodes counts as wide, unless it is a chain

SHAPES = {
    "planned": Shape(
        "Sequoia",
        ", planned for this machine",
        "planned for this machine",
        about=(
            "Planned for speed: among the trees predicted to be at most 1% slower than the "
            "fastest, the one expected to give the most tokens per step."
        ),
    ),
    "wide": Shape(
        "Wide tree",
        "",
        "best tree of {} nodes on at most {} levels, chosen to show branching",
        about=(
            f"The planned tree if it branches and has at least {LEAST_WIDE} nodes; else a tree of "
            f"{WIDE_NODES} nodes on at most {WIDE_LEVELS} levels, which may be slower than a chain."
        ),
        menu="Show me a tree",
    ),
    "best": Shape(
        "Sequoia, sized",
        " as given",
        "expected to give the most tokens for its size",
        ("Nodes", "Max levels"),
        (64, 8),
        about="The tree with these limits that is expected to emit the most tokens per step.",
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
            "A chain predicted to be the fastest, or at most 1% slower. Its length is planned in "
            "the same way as the Sequoia tree, so a run of both shows what branching adds."
        ),
    ),
    "sequences": Shape(
        "k sequences",
        "",
        "{} sequences of {} tokens",
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
        about="All nodes on a level have the same number of children, which you enter by level.",
    ),
    "lab": Shape(
        "Tree from Design",
        ", or any other",
        "given node by node",
        ("Parent of each node",),
        ("-1 0 0 1",),
        _listed,
        about=(
            "A tree drawn in Design, or typed: for each node, the number of its parent. The root "
            "is node 0; its parent is -1. JSON as Design exports it is read too: this program's, "
            "networkx's node-link, Medusa's paths."
        ),
    ),
    "dynamic": Shape(
        "Dynamic",
        " tree, a new one every step",
        "dynamic tree",
        ("Max nodes", "Max levels"),
        (64, 12),
        about="A new tree every step, larger where the small model is confident.",
    ),
    "lookup": Shape(
        "No small model",
        ": looked up in the text",
        "looked up in the text so far, without a small model",
        about=(
            "Proposes what followed the last tokens earlier in the text, and nothing where they "
            "are new. The tree is planned for this machine. Try it on a prompt that the answer "
            "repeats."
        ),
    ),
    "plain": Shape(
        "Plain",
        " decoding, one node",
        "plain decoding",
        make=lambda: Tree.chain(1),
        about="One token per step and no small model: the baseline for all others.",
    ),
}


TEXTS = ("branching", "lab")  # kinds whose only field is a text
# Kinds that are planned from the acceptance. Their first field is the exact number of nodes for
# "best", and the maximum for the others. Their second field is the maximum number of levels.
FITTED = ("best", "dynamic")
# kinds without fields: shape and size are planned from the acceptance and the machine's times
PLANNED = ("planned", "tuned_chain")


def typed_tree(kind: Any, text: Any) -> Any:
    """`text`, typed for a tree given node by node; as a list of parents if it is JSON of another
    program. Other kinds: unchanged. Raises BadTree."""
    if kind != "lab" or not isinstance(text, str) or text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return " ".join(map(str, tree_of_json(text).parents))
    except BadTree as problem:
        raise BadTree(f"parents: {problem}") from None


def listed_numbers(kind: Any, text: Any) -> tuple[Any, ...]:
    """The numbers for a shape's fields, typed as one text such as "64, 8". A shape without fields
    has none, whatever the text. For a kind in TEXTS, the text itself, unchecked. Raises BadTree if
    `kind` is not a shape, or `text` does not have one number for each field, all at least 0."""
    if not isinstance(kind, str) or kind not in SHAPES:
        raise BadTree(f"tree: {shown(kind)} is not the name of a shape; known: {', '.join(SHAPES)}")
    fields = SHAPES[kind].fields
    if not fields or kind in TEXTS:
        return (typed_tree(kind, text),)[: len(fields)]
    numbers = typed_numbers(text, 100)
    if numbers is None or len(numbers) != len(fields) or min(numbers) < 0:
        wanted = "a whole number" if len(fields) == 1 else f"{len(fields)} whole numbers"
        typed = f"{shown(text)}; " if text else ""
        raise BadTree(
            f"{', '.join(fields)}: {typed}enter {wanted} such as "
            f"{', '.join(map(str, SHAPES[kind].start))}"
        )
    return tuple(numbers)


def entry_of(tree: Tree) -> tuple[str, str, str]:
    """The menu entry that makes `tree`: its kind ("plain", "chain", or "lab" for a tree given node
    by node), the text for its field, and the tree in words."""
    if len(tree) == 1:
        return "plain", "", "plain decoding"
    if tree == Tree.chain(len(tree)):
        return "chain", str(len(tree)), f"a chain of {len(tree)} nodes"
    return "lab", " ".join(map(str, tree.parents)), f"a tree of {len(tree)} nodes"
