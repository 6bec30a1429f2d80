"""Timed rounds over all contestants, and the table of their results. A contestant is a named way to
decode."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tqdm import tqdm

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats, repetition
from sequoia.bench.decoders import Contestant


@dataclass
class Row:
    """Results of one contestant. Lists have an entry for each round.

    ms_per_token: with the prefill.
    step_ms_per_token: of the steps only.
    overhead_share: the share of a step's time spent outside both models, 0 to 1.
    repetition: the share of repeated 8-grams, 0 to 1, averaged over the decoded texts.
    predicted, expected_tokens: see Contestant.
    ratio, step_ratio: speed-ups over the fastest plain decoding, filled in by `rated`.

    The figures about steps are None if `transformers` decoded, because it reports no steps.
    """

    name: str
    group: str
    ms_per_token: list[float]
    step_ms_per_token: list[float] | None
    tokens_per_step: float | None
    overhead_share: float | None
    repetition: float
    predicted: float | None
    expected_tokens: float | None
    ratio: list[float] | None = None
    step_ratio: list[float] | None = None


def timed(
    contestants: Sequence[Contestant],
    prompts: Sequence[str],
    params: SamplingParams,
    rounds: int,
    title: str,
) -> list[Row]:
    """Time `rounds` rounds over all prompts, after a warm-up with the first prompt. All contestants
    decode a prompt before the next prompt begins, so that a machine that slows down for half a
    minute slows down for all of them. Returns a row for each contestant, without ratios (see
    `rated`)."""
    found: list[list[_Round]] = [[] for _ in contestants]
    for contestant in contestants:
        contestant.ready()(prompts[0], replace(params, max_new_tokens=16))
    with tqdm(
        total=rounds * len(prompts) * len(contestants), desc=title, file=sys.stderr, leave=False
    ) as bar:
        for number in range(rounds):
            for one in found:
                one.append(_Round())
            for i, prompt in enumerate(prompts):
                for contestant, one in zip(contestants, found, strict=True):
                    one[-1].decode(contestant, prompt, params.further(1000 * number + i))
                    bar.update()
    return [*map(_row, contestants, found)]


def rated(rows: list[Row]) -> list[Row]:
    """Fill in `ratio` of each row: its speed-up in every round over the plain decoding with the
    least median time. Fill in `step_ratio` too, unless `transformers` decoded. Returns `rows`."""
    base = _fastest(rows, "plain")
    for row in rows:
        row.ratio = _ratios(base.ms_per_token, row.ms_per_token)
        if base.step_ms_per_token and row.step_ms_per_token:
            row.step_ratio = _ratios(base.step_ms_per_token, row.step_ms_per_token)
    return rows


def _fastest(rows: Sequence[Row], group: str) -> Row:
    members = [row for row in rows if row.group == group]
    return min(members, key=lambda row: statistics.median(row.ms_per_token))


def _ratios(slow: Sequence[float], fast: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(slow, fast, strict=True)]


class _Round:
    """One contestant's decoding of the prompts of a round."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.emitted: list[list[int]] = []
        self.stats: list[DecodeStats] = []

    def decode(self, contestant: Contestant, prompt: str, params: SamplingParams) -> None:
        decode = contestant.ready()
        start = time.perf_counter()
        tokens, stats = decode(prompt, params)
        self.seconds += time.perf_counter() - start
        self.emitted.append(tokens)
        self.stats += [stats] if stats else []

    @property
    def ms_per_token(self) -> float:
        return 1e3 * self.seconds / sum(map(len, self.emitted))

    @property
    def step_ms_per_token(self) -> float:
        return (
            1e3
            * sum(one.total_seconds for one in self.stats)
            / sum(one.tokens for one in self.stats)
        )


def _row(contestant: Contestant, rounds: Sequence[_Round]) -> Row:
    stats = [one for found in rounds for one in found.stats]
    steps = sum(one.steps for one in stats)
    overhead = sum(one.seconds["overhead"] for one in stats)
    return Row(
        name=contestant.name,
        group=contestant.group,
        predicted=contestant.predicted,
        expected_tokens=contestant.expected_tokens,
        ms_per_token=[found.ms_per_token for found in rounds],
        step_ms_per_token=[found.step_ms_per_token for found in rounds] if stats else None,
        tokens_per_step=sum(one.tokens for one in stats) / steps if stats else None,
        overhead_share=overhead / sum(one.total_seconds for one in stats) if stats else None,
        repetition=statistics.fmean(
            repetition(tokens) for found in rounds for tokens in found.emitted
        ),
    )


# -- as a table ------------------------------------------------------------------------------------


def print_table(rows: Sequence[Row], title: str, floor_ms: float) -> None:
    """Print the table, and below it Sequoia's speed relative to plain decoding, and to each of
    these that was timed: `generate()`, assisted `generate()`, llama.cpp and OpenVINO.

    floor_ms: milliseconds in which the target's weights can be read once."""
    print(title)
    print(
        f"  {'decoder':<46}{'ms/token':>22}{'tokens/s':>10}{'of the floor':>14}"
        f"{'speed-up over plain':>24}{'predicted':>11}"
        f"{'tokens/step':>13}{'non-model':>11}{'repeated 8-grams':>18}"
    )
    for row in rows:
        print(
            f"  {row.name:<46}{_spread(row.ms_per_token, ''):>22}"
            f"{1000 / statistics.median(row.ms_per_token):>10.0f}"
            f"{floor_ms / statistics.median(row.ms_per_token):>14.0%}{_spread(row.ratio, 'x'):>24}"
            f"{_or_blank(row.predicted, '.2f', 'x'):>11}{_or_blank(row.tokens_per_step, '.2f'):>13}"
            f"{_or_blank(row.overhead_share, '.1%'):>11}{row.repetition:>18.0%}"
        )
    _print_summary(rows)


def _print_summary(rows: Sequence[Row]) -> None:
    own = next((row for row in rows if row.group == "Sequoia"), None)
    if own is None:
        return
    groups = {row.group for row in rows}
    for group in ("generate", "assisted", "llama.cpp", "OpenVINO"):
        if group in groups:
            best = _fastest(rows, group)
            print(
                f"  Sequoia is {_spread(_ratios(best.ms_per_token, own.ms_per_token), 'x')} as "
                f"fast as {best.name}"
            )
    print(f"  Sequoia is {_spread(own.ratio, 'x')} as fast as plain decoding on the same engine")
    print(
        (
            f"  Without the prefill: {_spread(own.step_ratio, 'x')} as fast, with "
            f"{own.tokens_per_step:.2f} tokens per step; predicted: {own.predicted:.2f}x, with "
            f"{own.expected_tokens:.2f} tokens per step\n"
        ),
        flush=True,
    )


def _spread(values: Sequence[float] | None, unit: str) -> str:
    if not values:
        return ""
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f}-{max(values):.2f})"


def _or_blank(value: float | None, form: str, unit: str = "") -> str:
    return "" if value is None else f"{value:{form}}{unit}"
