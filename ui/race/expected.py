"""After a race, computes the expected number of steps of each lane. Independent of threads and of
the page."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia import Pair, Race, SamplingParams
from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.measuring.steps_for_texts import expected_steps, fixed_lane


def expected_of(
    pair: Pair, race: Race, texts: Sequence[Sequence[int]], params: SamplingParams
) -> tuple[ExpectedSteps | None, ...] | None:
    """For each lane, the expected number of steps for the texts of all lanes with the same prompt.
    texts: the token ids that each lane emitted.

    A value is None if the lane's tree changes from step to step, if its verifier does not allow the
    computation, or if all of these texts are too short. At temperature 0 the result is None instead
    of a tuple: nothing is random, so the expected steps are the actual ones.
    """
    if params.temperature == 0:
        return None
    found: list[ExpectedSteps | None] = [None] * len(race.lanes)
    prompts = [decoder.prompt for decoder in race.decoders]
    for prompt in dict.fromkeys(prompts):
        places = [i for i, own in enumerate(prompts) if own == prompt]
        lanes = [fixed_lane(race.lanes[i].tree, race.lanes[i].verifier) for i in places]
        steps = expected_steps(pair, prompt, [texts[i] for i in places], params, lanes)
        for place, of_lane in zip(places, steps, strict=True):
            found[place] = of_lane and rounded(of_lane)
    return tuple(found)


def rounded(expected: ExpectedSteps) -> ExpectedSteps:
    """`expected` with as many decimals as a file keeps."""
    steps = tuple(tuple(round(one, 4) for one in of_text) for of_text in expected.steps)
    return ExpectedSteps(expected.tokens, steps)
