"""How a tree was chosen, in words."""

from __future__ import annotations

from sequoia.measuring.defaults import SLACK
from ui.words.figures import text_words


def rates_words(source: str) -> str:
    """What an acceptance vector was counted on. For "recorded prose", this is "from acceptance
    rates counted on prose"."""
    _, _, kind = source.partition(" ")
    return f"from acceptance rates{f' counted on {text_words(kind)}' if kind else ''}"


def planned_words(
    how: str,
    source: str,
    clock: str = "",
    limit: tuple[int, int] | None = None,
    *,
    slower: bool = False,
) -> str:
    """A planned tree. how: the words of its shape. source: see `rates_words`. clock: the name of
    the simulated machine that it was planned for; empty for this machine. limit: the most nodes
    here and those of the best tree, if it has more. slower: whether it is predicted to be slower
    than plain decoding."""
    words = how.replace("this machine", clock) if clock else how
    if limit:
        most, best = limit
        words += f", limited to {most} nodes here ({best} would be best)"
    if slower:
        words += " (predicted to be slower than plain decoding)"
    return f"{words}, {rates_words(source)}"


def rule_words(rule: str) -> str:
    """By which rule a planned chain or tree was chosen among those that are nearly as fast as the
    fastest. rule: "chains", "trees", or "" if there is no such rule."""
    within = f"within {SLACK * 100:g}% of the fastest"
    return {
        "": "",
        "chains": f"among chains {within}, the longest",
        "trees": f"among trees {within}, the one with the most expected tokens per step",
    }[rule]
