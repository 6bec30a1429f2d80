"""The figures of `judge` in pair_judge.py as a text table, for one pair or for two side by side."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sequoia.errors import SequoiaError

USUAL = 0.6  # temperature of teacher-forced acceptance and of timed runs
RESAMPLES = 2000


def table(after: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """A text table of the figures in `after`, by kind of text. If a kind is in `before` too, its
    figures there are in a column on the left, and the differences over the same excerpts follow.
    Raises SequoiaError if `before` and `after` have different numbers of excerpts of such a
    kind."""
    lines = []
    for kind in after["kinds"]:
        new = after["kinds"][kind]
        old = before["kinds"].get(kind) if before else None
        lines += [f"{kind}, {new['excerpts']} excerpts", *_rows(new, old), ""]
    return "\n".join(lines)


def _rows(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
    figures = _figures(new)
    earlier = _figures(old) if old else {}
    rows = [
        f"  {name:<44}{earlier.get(name, ''):>10}{value:>10}" for name, value in figures.items()
    ]
    return rows + (_changes(new, old) if old else [])


def _figures(kind: Mapping[str, Any]) -> dict[str, str]:
    found = {
        "bits per byte": f"{kind['bits_per_byte']:.3f}",
        "sum of min(p, q)": f"{kind['shared_mass']:.3f}",
        f"tokens per step, teacher-forced, T={USUAL:g}": f"{kind['tokens_per_step']:.3f}",
    }
    for rank, rate in enumerate(kind["acceptance_by_rank"][:4], 1):
        found[f"acceptance of child {rank}, T={USUAL:g}"] = f"{rate:.3f}"
    for temperature, figures in kind["temperatures"].items():
        found[f"repeated 8-grams, T={temperature}"] = f"{figures['repeated_8_grams']:.1%}"
        found[f"loops, T={temperature}"] = f"{figures['loops']:.1%}"
        found[f"tokens per step, own continuations, T={temperature}"] = (
            f"{figures['tokens_per_step']:.3f}"
        )
        if "parse" in figures:
            found[f"parses as Python, T={temperature}"] = f"{figures['parse']:.1%}"
    if kind["speed_up"]:
        found["speed-up, own text (needs an idle machine)"] = f"{kind['speed_up']['median']:.2f}x"
        found["  repeated 8-grams when timed"] = f"{kind['speed_up']['repeated_8_grams']:.1%}"
    return found


def same_number(old: int, new: int) -> None:
    """Raises SequoiaError unless two evaluations have results for the same number of excerpts."""
    if old != new:
        raise SequoiaError(
            f"--before: that file has results for {old} excerpts, not {new}; evaluate both pairs "
            "with the same --excerpts and --limit"
        )


def _changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    """Differences over the same excerpts, with 95% confidence intervals (bootstrap)."""
    same_number(len(old["bits"]), len(new["bits"]))
    bits = _interval(list(zip(new["bits"], old["bits"], strict=True)), _bits_ratio)
    tokens = _interval(list(zip(new["forced"], old["forced"], strict=True)), _tokens_change)
    return [
        f"  bits per byte: {bits[0]:+.1%} ({bits[1]:+.1%} to {bits[2]:+.1%})",
        f"  tokens per step, teacher-forced: {tokens[0]:+.3f} ({tokens[1]:+.3f} to "
        f"{tokens[2]:+.3f})",
    ]


def _bits_ratio(pairs: Sequence[tuple[Any, Any]]) -> float:
    return sum(new[0] for new, _ in pairs) / sum(old[0] for _, old in pairs) - 1


def _tokens_change(pairs: Sequence[tuple[Any, Any]]) -> float:
    return weighted([new for new, _ in pairs], "tokens") - weighted(
        [old for _, old in pairs], "tokens"
    )


def _interval(
    pairs: Sequence[tuple[Any, Any]], measure: Callable[[Sequence[tuple[Any, Any]]], float]
) -> tuple[float, float, float]:
    """The value of `measure` on `pairs`, and the bounds of its 95% confidence interval."""
    chance = random.Random(0)
    values = sorted(measure(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return measure(pairs), values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES)]


# -- means over excerpts ---------------------------------------------------------------------------


def weighted(forced: Sequence[Mapping[str, Any]], name: str) -> float:
    """Mean of the number `name` over all excerpts, weighted by their numbers of positions."""
    return float(mean(forced, name))


def mean(forced: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    """The same as `weighted`, but each excerpt may also have a list of numbers called `name`."""
    return np.average([each[name] for each in forced], 0, [each["positions"] for each in forced])
