"""Sizes, times, tokens and machines in words."""

from __future__ import annotations

from sequoia.algorithm.tree import Tree
from sequoia.planning.named_profiles import is_clock_name


def size_words(tree: Tree) -> str:
    """A tree's size: "6 nodes on 3 levels"."""
    return (
        f"{len(tree)} node{'s' * (len(tree) > 1)} on {tree.levels} level{'s' * (tree.levels > 1)}"
    )


def ratio_words(ratio: float) -> str:
    """A ratio of paces with one decimal. If it would look like 1 but is not, it gets more. The same
    digits as those of ui/shared/web/verdict_words.js."""
    texts = (f"{ratio:.{decimals}f}" for decimals in range(1, 5))
    return next((text for text in texts if float(text) != 1), "1.0")


def speedup_words(speedup: float) -> str:
    """A speed-up: "1.4×"."""
    return f"{ratio_words(speedup)}×"


def text_words(kind: str) -> str:
    """The texts of one kind in words: "Python code" or "prose"."""
    return "Python code" if kind == "code" else kind


def signed(share: float, decimals: int = 0) -> str:
    """A share as a signed percentage: "+13%", "−2%", "0%"."""
    text = f"{100 * share:+.{decimals}f}%"
    return text[1:] if float(text[:-1]) == 0 else text.replace("-", "−")


def p_words(p: float) -> str:
    """A p-value."""
    return "below 0.000001" if p < 1e-6 else f"{p:.2g}"


def time_words(seconds: float) -> str:
    """A time in the most readable unit: "1.20 s", "340 ms", "3.4 ms", "250 µs"."""
    unit, per_second, digits = _unit(seconds)
    return f"{seconds * per_second:.{digits}f} {unit}"


def as_shown(seconds: float) -> float:
    """`seconds`, rounded to the digits that `time_words` shows."""
    _, per_second, digits = _unit(seconds)
    return round(seconds * per_second, digits) / per_second


def _unit(seconds: float) -> tuple[str, float, int]:
    """The unit of a time, how many of that unit make a second, and the digits after the point."""
    if seconds >= 0.9995:
        return "s", 1, 2
    if 0 < seconds < 0.9995e-3:
        return "µs", 1e6, 0
    return "ms", 1e3, 0 if seconds >= 0.1 else 1


def token_words(tokens: float) -> str:
    """A number of tokens with two digits after the point, or two significant digits if it is
    between 0 and 0.1."""
    return f"{tokens:.2f}" if tokens >= 0.1 or tokens == 0 else f"{tokens:.2g}"


# -- machines --------------------------------------------------------------------------------------


def machine_of(clock: str) -> str:
    """The machine of a simulated clock (a profile that predicts step times), in words that fit
    inside a sentence. clock: the field "name" of the profile. If the profile comes with the
    program, the words are the text before the first comma, such as "the A100". Any other name was
    chosen by a visitor. It is returned whole, in quotation marks."""
    if is_clock_name(clock):
        return f"the {clock.split(',')[0].strip()}"
    return f"“{clock}”"
