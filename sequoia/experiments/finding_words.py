"""Words for the finding of an experiment."""

from __future__ import annotations


def lines(answer: str, *details: str) -> str:
    """A finding: the answer to the experiment's question, then each detail on a line of its own.
    Empty details are left out."""
    return "\n".join((answer, *filter(None, details)))


def count_or_none(count: int) -> str:
    """`count` as it appears in a sentence, with "none" for 0, as in "slower in none"."""
    return str(count) if count else "none"


def signed_percent(share: float) -> str:
    """ "+13%" or "−2%" """
    words = f"{share:+.0%}".replace("-", "−")
    return "0%" if words in ("+0%", "−0%") else words
