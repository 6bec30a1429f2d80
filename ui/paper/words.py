"""Numbers and labels of the Paper tab as text."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia.planning.paper_results import OURS, SEQUENCES

METHODS = {OURS: "Sequoia", SEQUENCES: "SpecInfer", "top-k": "Top-k match"}


def titled(texts: str, temperature: float | None) -> str:
    """The texts and the temperature, if there is one: "C4, T = 0.6"."""
    return texts if temperature is None else f"{texts}, T = {temperature:g}"


def times(value: float, digits: int = 2) -> str:
    """A speed-up: "4.04×"."""
    return f"{value:.{digits}f}×"


def deviation(simulated: float, paper: float) -> float:
    """The relative deviation of a simulated number from the paper's: 0.1 if it is 10% higher."""
    return simulated / paper - 1


def signed(share: float) -> str:
    """A fraction as a signed percentage: "+3.4%", "−11.0%", "0.0%"."""
    text = f"{100 * share:+.1f}%"
    return text[1:] if float(text[:-1]) == 0 else text.replace("-", "−")


def spread(shares: Sequence[float]) -> str:
    """The smallest and the largest of some fractions: "−1.2% to +3.4%"."""
    return f"{signed(min(shares))} to {signed(max(shares))}"
