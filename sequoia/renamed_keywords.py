"""Keyword arguments that were renamed: the old names still work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def renamed_keywords(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator for a function whose keyword arguments were renamed. Each of `names` is given as
    old="new". The function then accepts either name, and raises TypeError if a call uses both."""

    def renamed(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> T:
            for old in names.keys() & keywords.keys():
                new = names[old]
                if new in keywords:
                    raise TypeError(
                        f"{function.__name__}: {old} is the old name of {new}; pass {new} only"
                    )
                keywords[new] = keywords.pop(old)
            return function(*args, **keywords)

        return call

    return renamed
