"""A sentence about acceptance: whether it depends on depth."""

from __future__ import annotations

from sequoia.measuring.counted_acceptance import LEAST, DepthTest


def depth_words(verdict: DepthTest) -> str:
    """Whether acceptance depends on the rank alone, and the cell that shows it best."""
    if verdict.holds is None:
        return (
            "Too few counts to tell whether acceptance depends on depth; decode more tokens "
            "(the tree must have at least 3 levels)."
        )
    if not verdict.holds:
        return f"The positional assumption fails here: {_cell_words(verdict)}."
    among = (
        "The clearest deviation"
        if verdict.compared > 1
        else "Only one cell has enough counts for a test (at least "
        f"{LEAST:g} acceptances and {LEAST:g} rejections expected)"
    )
    return f"No evidence that acceptance depends on depth. {among}: {_cell_words(verdict)}."


def _cell_words(verdict: DepthTest) -> str:
    here, elsewhere = verdict.here, verdict.elsewhere
    child = f"child {verdict.rank + 1}"
    parent = f"a node at depth {verdict.depth}" if verdict.depth else "the root"
    words = (
        f"{child} of {parent} was accepted in {here.accepted:.6g} of {here.visits} visits "
        f"({here.rate:.0%}), and {child} at all other depths in {elsewhere.accepted:.6g} of "
        f"{elsewhere.visits} ({elsewhere.rate:.0%}); p = {verdict.p_value:.2g}"
    )
    return words + f", corrected for {verdict.compared} tests" * (verdict.compared > 1)
