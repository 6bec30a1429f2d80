"""What was made of the latest tree, kept: masks are large, and most steps of a run share one tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from .tree import Tree

T = TypeVar("T")


class Latest(Generic[T]):
    """`make(tree)`, made anew only when the tree is another than the last time."""

    def __init__(self, make: Callable[[Tree], T]) -> None:
        self._make = make
        self._kept: tuple[Tree, T] | None = None

    def __call__(self, tree: Tree) -> T:
        if self._kept is None or self._kept[0] != tree:
            self._kept = tree, self._make(tree)
        return self._kept[1]
