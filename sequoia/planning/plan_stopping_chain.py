"""The fastest chain that stops after an unsure token, from steps with a long chain: how long it may
be, and how sure the draft must be of a token to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sequoia.algorithm.tree import Tree
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import step_seconds

THRESHOLDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class LongChainStep:
    """A step with a chain of as many tokens as were tried. probs: the draft probability of each
    drafted token. accepted: how many of them were accepted, from the first on."""

    probs: tuple[float, ...]
    accepted: int

    def drafted(self, most: int, surest: float) -> int:
        """The tokens that a chain of at most `most` nodes would have had."""
        for length, prob in enumerate(self.probs[: most - 1], 1):
            if prob < surest:
                return length
        return min(most - 1, len(self.probs))


@dataclass(frozen=True)
class StopRule:
    """As in `StoppingChain`. predicted_speedup: over plain decoding."""

    most: int
    surest: float
    predicted_speedup: float


def best_stop_rule(steps: Sequence[LongChainStep], profile: HardwareProfile) -> StopRule:
    """The rule that would have been fastest on `steps` with the times of `profile`; of equals the
    one with the shortest chain. A shorter chain accepts what a longer one does, up to its end."""
    longest = max(len(step.probs) for step in steps) + 1
    seconds = [step_seconds(Tree.chain(nodes), profile) for nodes in range(1, longest + 1)]
    rules = [
        StopRule(most, surest, _speedup(steps, most, surest, seconds))
        for most, surest in product(range(2, longest + 1), THRESHOLDS)
    ]
    return max(rules, key=lambda rule: rule.predicted_speedup)


def _speedup(
    steps: Sequence[LongChainStep], most: int, surest: float, seconds: Sequence[float]
) -> float:
    """Tokens per second over those of plain decoding. seconds: of a step with 1, 2, ... nodes."""
    drafted = [step.drafted(most, surest) for step in steps]
    tokens = sum(
        1 + min(length, step.accepted) for length, step in zip(drafted, steps, strict=True)
    )
    return tokens * seconds[0] / sum(seconds[length] for length in drafted)
