"""A table of drafts for one target: the pair's own, and copies of the target in int8 and int4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel
from sequoia.measuring.acceptance_teacher_forced import agreement
from sequoia.measuring.copied_draft import is_copy, with_draft
from sequoia.measuring.hardware import measure_profile
from sequoia.models.pair import Pair
from sequoia.models.rounded_copy import ROUNDED

_WIDTHS = (1, 2, 8)  # rows of the draft passes whose times are printed


def print_copies(
    pair: Pair,
    load: Callable[[str], Pair],
    kinds: Mapping[str, Sequence[str]],
    temperatures: Sequence[float],
) -> list[dict[str, str]]:
    """Print a row for each draft as soon as it is measured, and return all rows, each by the heads
    of its cells. load: the pair with a copy as the draft, in the given numbers. kinds: texts by the
    name of their kind."""
    print(
        "Sum of min(p, q): the mean over the texts' positions. Passes after 256 tokens: measured, "
        "ms. Speed-up over plain decoding: predicted, with the best tree of two or more nodes."
    )
    heads = [
        "draft",
        *(f"sum of min(p, q), {kind}, T={t:g}" for kind in kinds for t in temperatures),
        *(f"draft pass, {width} rows" for width in _WIDTHS),
        "target pass, 1 row",
        *(f"speed-up, T={t:g}" for t in temperatures),
    ]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    rows = []
    for name, each in _pairs(pair, load):
        cells = [name, *_row(each, kinds, temperatures)]
        print(f"| {' | '.join(cells)} |", flush=True)
        rows.append(dict(zip(heads, cells, strict=True)))
    return rows


def _pairs(pair: Pair, load: Callable[[str], Pair]) -> Iterator[tuple[str, Pair]]:
    if not is_copy(pair):
        yield f"{pair.draft.name} ({pair.draft.numbers})", pair
    for numbers in ROUNDED:
        try:
            yield f"a copy in {numbers}", load(numbers)
        except BadModel as problem:
            print(problem)


def _row(
    pair: Pair, kinds: Mapping[str, Sequence[str]], temperatures: Sequence[float]
) -> Iterator[str]:
    profile = pair.measured.profile = measure_profile(pair)
    for texts in kinds.values():
        for temperature in temperatures:
            yield f"{agreement(pair, texts, temperature):.3f}"
    for width in _WIDTHS:
        yield f"{1000 * profile.draft_seconds_at(width):.2f}"
    yield f"{1000 * profile.plain_seconds:.2f}"
    for temperature in temperatures:
        yield f"{with_draft(pair, SamplingParams(temperature)):.2f}x"
