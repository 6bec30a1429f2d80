"""Rounds over contestants, and the table made of them. To it a contestant is a name and a way to decode."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tqdm import tqdm

from .contestants import Contestant
from .policy import Policy
from .trace import DecodeStats, repetition


@dataclass
class Row:
    """What was measured of one contestant: a list entry a round."""

    name: str
    group: str
    ms_per_token: list[float]
    tokens_per_step: float | None
    overhead_share: float | None
    overhead_ms: float | None  # of a step
    repetition: float
    predicted: float | None
    expected_tokens: float | None  # a step, in the prediction
    ratio: list[float] | None = None


def timed(contestants: Sequence[Contestant], prompts: Sequence[str], policy: Policy, rounds: int, title: str) -> list[Row]:
    """Rounds over all prompts, after one warm-up on the first. Each prompt is decoded by all contestants in turn before the next,
    so that a machine that changes its pace for half a minute changes it for all of them. Ratios are still missing."""
    rows = [Row(c.name, c.group, [], None, None, None, 0.0, c.predicted, c.expected_tokens) for c in contestants]
    for contestant in contestants:
        contestant.ready()(prompts[0], replace(policy, max_new_tokens=16))
    with tqdm(total=rounds * len(prompts) * len(contestants), desc=title, file=sys.stderr, leave=False) as bar:
        for number in range(rounds):
            found = [_Round() for _ in rows]
            for i, prompt in enumerate(prompts):
                for contestant, one in zip(contestants, found, strict=True):
                    one.decode(contestant, prompt, replace(policy, seed=policy.seed + 1000 * number + i))
                    bar.update()
            for one, row in zip(found, rows, strict=True):
                one.add_to(row)
    return rows


def rated(rows: list[Row]) -> list[Row]:
    """`rows` with the ratios of every round to the faster plain decoding filled in."""
    base = min((row for row in rows if row.group == "plain"), key=lambda row: statistics.median(row.ms_per_token))
    for row in rows:
        row.ratio = [one / other for one, other in zip(base.ms_per_token, row.ms_per_token, strict=True)]
    return rows


class _Round:
    """What one contestant did with the prompts of a round."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._emitted: list[list[int]] = []
        self._stats: list[DecodeStats] = []

    def decode(self, contestant: Contestant, prompt: str, policy: Policy) -> None:
        decode, start = contestant.ready(), time.perf_counter()
        tokens, stats = decode(prompt, policy)
        self._seconds += time.perf_counter() - start
        self._emitted.append(tokens)
        self._stats += [stats] if stats else []

    def add_to(self, row: Row) -> None:
        """One more time for `row`; what else it says is of the last round."""
        row.ms_per_token.append(1e3 * self._seconds / sum(map(len, self._emitted)))
        row.repetition = statistics.fmean(map(repetition, self._emitted))
        if steps := sum(one.steps for one in self._stats):
            overhead = sum(one.seconds["overhead"] for one in self._stats)
            row.tokens_per_step = sum(one.tokens for one in self._stats) / steps
            row.overhead_share = overhead / sum(one.total_seconds for one in self._stats)
            row.overhead_ms = 1e3 * overhead / steps


# -- as a table ----------------------------------------------------------------------------------------------------------------


def print_table(rows: Sequence[Row], title: str) -> None:
    """The table on the standard output, and what Sequoia is held against in words."""
    print(title)
    print(f"  {'decoder':<46}{'ms/token':>22}{'speed-up over plain':>24}{'predicted':>11}{'tokens/step':>13}"
          f"{'non-model':>11}{'repeated':>10}")
    for row in rows:
        print(f"  {row.name:<46}{_spread(row.ms_per_token, ''):>22}{_spread(row.ratio, 'x'):>24}"
              f"{_or_blank(row.predicted, '.2f', 'x'):>11}{_or_blank(row.tokens_per_step, '.2f'):>13}"
              f"{_or_blank(row.overhead_share, '.1%'):>11}{row.repetition:>10.0%}")
    _print_summary(rows)


def _print_summary(rows: Sequence[Row]) -> None:
    for row in rows:
        if row.group == "size":
            print(f"  {row.name}: {row.overhead_ms:.2f} ms of a step are outside both models")
    own = next((row for row in rows if row.group == "Sequoia"), None)
    if own is None:
        return
    for group in ("generate", "assisted", "grid", "accelerate"):
        best = min((row for row in rows if row.group == group), key=lambda row: statistics.median(row.ms_per_token), default=None)
        if best:
            ratio = [one / other for one, other in zip(best.ms_per_token, own.ms_per_token, strict=True)]
            print(f"  Sequoia is {_spread(ratio, 'x')} as fast as {best.name}")
    print(f"  Sequoia is {_spread(own.ratio, 'x')} as fast as plain decoding on the same engine; predicted is "
          f"{_or_blank(own.predicted, '.2f', 'x')}, with {_or_blank(own.expected_tokens, '.2f')} tokens a step\n", flush=True)


def _spread(values: Sequence[float] | None, unit: str) -> str:
    if not values:
        return ""
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f}-{max(values):.2f})"


def _or_blank(value: float | None, form: str, unit: str = "") -> str:
    return "" if value is None else f"{value:{form}}{unit}"
