"""The diagnosis of a run, in numbers and sentences: what costs it speed-up, and which changes are
predicted to help."""

from __future__ import annotations

from dataclasses import dataclass

from sequoia.algorithm.tree import Tree


@dataclass(frozen=True)
class Loss:
    """A cause of lost speed-up. name: "acceptance", "draft", "verify" or "overhead". without: the
    speed-up of the same run without this loss, but with all other losses."""

    name: str
    without: float
    sentence: str


@dataclass(frozen=True)
class Remedy:
    """A change that may help. predicted: its speed-up over plain decoding.

    tree: the tree to use instead; None for a change of the models. label: "predicted", "predicted,
    what if" for a hypothetical model, or "measured" for plain decoding.
    """

    words: str
    predicted: float
    tree: Tree | None = None
    label: str = "predicted"

    @property
    def sentence(self) -> str:
        return f"{self.words}: speed-up {self.predicted:.2f}× ({self.label})."


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one run.

    speedup: measured, over the plain run.
    losses: largest first.
    remedies: changes predicted above `noise`, best first.
    noise: predictions up to this speed-up may exceed `speedup` by chance or prediction error alone.
    unclear: changes predicted above `speedup` but not above `noise`, best first.
    """

    speedup: float
    losses: tuple[Loss, ...]
    remedies: tuple[Remedy, ...]
    noise: float
    unclear: tuple[Remedy, ...] = ()

    @property
    def largest_loss(self) -> str | None:
        """Name of the largest loss; None if there is none worth mentioning."""
        return self.losses[0].name if self.losses else None

    @property
    def sentence(self) -> str:
        """The largest loss (worded as a possible gain), and the best remedy that changes only the
        tree. If there is no such remedy, the sentence says why."""
        losses = [f"The most could be gained by {self.losses[0].sentence}"] if self.losses else []
        first = next((remedy for remedy in self.remedies if remedy.tree), None)
        advice = f"{first.sentence}{self._left_out}" if first else self._no_tree_sentence
        return " ".join([*losses, advice])

    @property
    def _left_out(self) -> str:
        """Why `unclear` changes are not listed. Empty if there are none."""
        if not self.unclear:
            return ""
        return (
            " Because speed-ups are uncertain, only changes predicted above "
            f"{self.noise:.2f}× are listed."
        )

    @property
    def _no_tree_sentence(self) -> str:
        """Says that no other tree is recommended, and why."""
        best = next((remedy for remedy in self.unclear if remedy.tree), None)
        if best is None:
            return f"No other tree is predicted to be faster.{self._left_out}"
        return (
            f"No other tree is recommended: the best one reaches {best.predicted:.2f}× "
            f"({best.label}). Because speed-ups are uncertain, only more than {self.noise:.2f}× "
            "would be a clear gain."
        )
