"""Computes, after a race, the expected number of steps of each lane on the texts of all lanes with
the same prompt. Independent of threads and of the page."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia import Pair, Race, SamplingParams
from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.measuring.expected_steps import expected_steps, fixed_lane


def expected_of(
    pair: Pair, race: Race, texts: Sequence[Sequence[int]], params: SamplingParams
) -> tuple[ExpectedSteps | None, ...] | None:
    """One value per lane. It is None if the lane's tree changes from step to step, if the value
    cannot be computed for its verifier, or if all texts on its prompt are too short. None instead
    of the tuple at temperature 0, where nothing is random: the expected steps are the actual ones.
    texts: the token ids that each lane emitted."""
    if params.temperature == 0:
        return None
    found: list[ExpectedSteps | None] = [None] * len(race.lanes)
    prompts = [decoder.prompt for decoder in race.decoders]
    for prompt in dict.fromkeys(prompts):
        places = [i for i, own in enumerate(prompts) if own == prompt]
        lanes = [fixed_lane(race.lanes[i].tree, race.lanes[i].verifier) for i in places]
        steps = expected_steps(pair, prompt, [texts[i] for i in places], params, lanes)
        for place, of_lane in zip(places, steps, strict=True):
            found[place] = of_lane
    return tuple(found)
