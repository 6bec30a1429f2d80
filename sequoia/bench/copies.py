"""A table of drafts for one target: the pair's own, and copies of the target in int8 and int4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel
from sequoia.measuring.acceptance_teacher_forced import agreement
from sequoia.measuring.copied_draft import with_draft
from sequoia.measuring.hardware import measure_profile
from sequoia.models.pair import Pair
from sequoia.models.rounded_linear import ROUNDED

_WIDTHS = (1, 2, 8)  # rows of the draft passes whose times are printed


def print_copies(
    pair: Pair,
    load: Callable[[str], Pair],
    kinds: Mapping[str, Sequence[str]],
    temperatures: Sequence[float],
) -> None:
    """Print a row for each draft as soon as it is measured. load: the pair with a copy as the
    draft, in the given numbers. kinds: texts by the name of their kind."""
    cells = [(kind, temperature) for kind in kinds for temperature in temperatures]
    print(
        "Sum of min(p, q): the mean over the texts' positions. Passes after 256 tokens: measured, "
        "ms. Speed-up over plain decoding: predicted, with the best tree of two or more nodes."
    )
    heads = ["draft", *(f"{kind}, T={t:g}: sum of min(p, q) | speed-up" for kind, t in cells)]
    heads += [f"draft pass, {width} rows" for width in _WIDTHS] + ["target pass, 1 row"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * (len(heads) + len(cells))}")
    for name, each in _pairs(pair, load):
        print(f"| {name} | {' | '.join(_row(each, kinds, temperatures))} |", flush=True)


def _pairs(pair: Pair, load: Callable[[str], Pair]) -> Iterator[tuple[str, Pair]]:
    yield f"{pair.draft.name} ({pair.draft.numbers})", pair
    for numbers in ROUNDED:
        try:
            yield f"a copy in {numbers}", load(numbers)
        except BadModel as problem:
            print(problem)


def _row(
    pair: Pair, kinds: Mapping[str, Sequence[str]], temperatures: Sequence[float]
) -> Iterator[str]:
    profile: Any = measure_profile(pair)
    pair.measured.profile = profile
    for texts in kinds.values():
        for temperature in temperatures:
            shared = agreement(pair, texts, temperature)
            speedup = with_draft(pair, SamplingParams(temperature))
            yield f"{shared:.3f} | {speedup:.2f}x"
    for width in _WIDTHS:
        yield f"{1000 * profile.draft_seconds_at(width):.2f}"
    yield f"{1000 * profile.plain_seconds:.2f}"
