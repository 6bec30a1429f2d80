"""A race: several ways to decode a prompt (lanes), side by side on one device, each with its own
clock.

Lanes take turns: of those that have not finished, the one with the least time on its clock makes
the next step. A lane's clock is the sum of the times of its own steps. Lanes share the processor's
caches, so they can still affect each other's times. With a simulated clock, step times are
predicted from a hardware profile. Prefill is not timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats, StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.decoding.engine import Decoder
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.models.pair import Pair
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.this_machine.memory import require_each


@dataclass(frozen=True)
class Lane:
    """One way to decode. tree: a Tree, or a TreeChoice that no other lane uses; plain decoding is a
    tree of one node. verifier: the verifier's key. prompt: the lane's own prompt, or None for the
    race's. pair: the race's target with the lane's own draft, or None for the race's pair."""

    name: str
    tree: TreeChoice
    verifier: str = DEFAULT_VERIFIER
    prompt: str | None = None
    pair: Pair | None = None

    @property
    def is_plain(self) -> bool:
        return isinstance(self.tree, Tree) and len(self.tree) == 1


class Race:
    """A race in progress. Raises what a Decoder raises.

    clock: replaces the measured time of every step by a simulated one; None keeps the measured
    times. has_heads: see `Decoder`. `stats[lane]`: the lane's totals so far.
    `stats[lane].total_seconds`: the lane's clock.
    """

    def __init__(
        self,
        pair: Pair,
        prompt: str,
        params: SamplingParams,
        lanes: Sequence[Lane],
        clock: SimulatedClock | None = None,
        has_heads: bool = False,
    ) -> None:
        self.lanes = tuple(lanes)
        prompts = [prompt if lane.prompt is None else lane.prompt for lane in lanes]
        for one in dict.fromkeys(prompts):
            pair.require_room(one, params.max_new_tokens)
        self.decoders = tuple(
            Decoder(lane.pair or pair, own, params, lane.tree, lane.verifier, has_heads=has_heads)
            for own, lane in zip(prompts, lanes, strict=True)
        )
        require_each(
            sum((decoder.missing for decoder in self.decoders), Counter()),
            f"the {len(lanes)} lanes need",
            "; ask for fewer tokens, fewer lanes or smaller trees",
        )
        self.stats = [DecodeStats() for _ in lanes]
        self._clock = clock

    @property
    def prompt(self) -> tuple[int, ...]:
        """Token ids of the first lane's prompt."""
        return self.decoders[0].prompt

    @property
    def running(self) -> list[int]:
        """Indices of the lanes that have not finished."""
        return [lane for lane, decoder in enumerate(self.decoders) if decoder.finish is None]

    def prefill(self) -> None:
        """Run each lane's prompt through the models that the lane uses."""
        for decoder in self.decoders:
            decoder.prefill()

    def step(self) -> tuple[int, StepTrace]:
        """Make one step of the running lane with the least time on its clock. If there are several
        such lanes, the first one makes the step. Returns the lane's index and the step's trace."""
        lane = min(self.running, key=lambda lane: self.stats[lane].total_seconds)
        trace = self.decoders[lane].step()
        if self._clock:
            trace = self._clock.retimed(trace)
        self.stats[lane] = self.stats[lane].add(trace)
        return lane, trace

    def __iter__(self) -> Iterator[tuple[int, StepTrace]]:
        """(lane index, trace) of each step until all lanes have finished. Each step is computed
        when it is asked for."""
        self.prefill()
        while self.running:
            yield self.step()
