"""Keywords that got better names: the old ones go on working."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def renamed_keywords(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator for a function whose keywords were renamed: old=new. The old name is taken like
    the new one; both together are a TypeError."""

    def renamed(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> T:
            for old in names.keys() & keywords.keys():
                new = names[old]
                if new in keywords:
                    raise TypeError(f"{function.__name__}: {old} is the old name of {new}")
                keywords[new] = keywords.pop(old)
            return function(*args, **keywords)

        return call

    return renamed
