"""A cache of a value computed for a tree, such as its attention mask. It keeps one value only,
because masks are large and most steps of a run use the same tree."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Generic, TypeVar

from sequoia.algorithm.tree import Tree

T = TypeVar("T")


class PerTree(Generic[T]):
    """A function that calls `make` for a tree and keeps the latest result. serves(tree, old):
    whether the result kept for the tree `old` can be used for `tree` too. Then `make` is not
    called."""

    def __init__(
        self, make: Callable[[Tree], T], serves: Callable[[Tree, Tree], bool] = operator.eq
    ) -> None:
        self._make = make
        self._serves = serves
        self._kept: tuple[Tree, T] | None = None

    def __call__(self, tree: Tree) -> T:
        if self._kept is None or not (self._kept[0] is tree or self._serves(tree, self._kept[0])):
            self._kept = tree, self._make(tree)
        return self._kept[1]
