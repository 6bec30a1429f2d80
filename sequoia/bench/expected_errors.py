"""How often a race's interval for a ratio of tokens per step is wrong.

In a race, each lane decodes the prompt with a tree of its own. Two lanes are compared by their
expected steps on the same texts. For several prompts, texts were decoded at a temperature above 0.
For each text, the expected number of steps with each of several trees was recorded. A resampled
race draws three texts of one prompt at random. The remaining texts of that prompt give an estimate
of the true ratio. This estimate has an error too, so the interval is widened to allow for it. A 95%
interval should miss the true ratio in at most about 5% of races.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import option_parser, reports_errors
from sequoia.bench.prompts import text_list
from sequoia.decoding.engine import plain
from sequoia.diagnosis.race_verdict.compare_pair import compare_expected
from sequoia.diagnosis.race_verdict.student_t import critical_value
from sequoia.errors import SequoiaError
from sequoia.loading.load import load_pair
from sequoia.measuring.defaults import acceptance_of
from sequoia.measuring.expected_steps import FixedLane, expected_steps
from sequoia.models.pair import Pair
from sequoia.text_files import load_json, require_writable, write_text, writing
from sequoia.validate_input import whole

FILE = ASSETS / "bench" / "recorded_steps" / "expected.json"
MOST_RACES = 1_000_000
TEXTS = 3  # texts in a race of three lanes: each lane emits one
# degrees of freedom of the interval from one race: 8 segments - 1, as in `compare_race`
FREEDOM = 7
TEMPERATURE = 0.6
# for each text, by lane: the expected steps in each segment of the text (see ExpectedSteps)
Texts = Sequence[Mapping[str, list[float]]]


def trees_of(pair: Pair, params: SamplingParams, prompt: str) -> dict[str, Tree]:
    """The trees of the recorded lanes, by name."""
    acceptance = acceptance_of(pair, params, texts=[prompt])[0].smoothed()
    return {
        "plain": Tree.chain(1),
        "chain of 6": Tree.chain(6),
        "chain of 10": Tree.chain(10),
        "tree of 12": best_tree(acceptance, 12),
        "tree of 64": best_tree(acceptance, 64),
        "4 levels of 2": Tree.kary(2, 4),
    }


def record(
    pair: Pair, prompts: Sequence[str], params: SamplingParams, count: int
) -> list[list[dict[str, list[float]]]]:
    """Decode `count` texts for each prompt. Returns, for each prompt and text, the expected steps
    of every lane in each segment."""
    trees = trees_of(pair, params, prompts[0])
    lanes = [FixedLane(tree, DEFAULT_VERIFIER) for tree in trees.values()]
    made = []
    for number, prompt in enumerate(prompts):
        texts = []
        for text in range(count):
            mine = params.further(number * count + text)
            emitted = emitted_tokens(plain(pair, prompt, mine))
            found = expected_steps(pair, pair.encode(prompt), [emitted], mine, lanes)
            steps = [[round(value, 3) for value in one.steps[0]] for one in found if one]
            texts.append(dict(zip(trees, steps, strict=True)))
        made.append(texts)
    return made


def outside(prompts: Sequence[Texts], one: str, other: str, races: int, seed: int) -> float:
    """Share of races, 0 to 1, whose widened 95% interval misses the ratio found on the remaining
    texts of the prompt. A race in which `compared` finds no ratio does not count as a miss."""
    rng = random.Random(seed)
    return sum(_misses(rng.choice(prompts), one, other, rng) for _ in range(races)) / races


def _misses(texts: Texts, one: str, other: str, rng: random.Random) -> bool:
    mixed = rng.sample(texts, len(texts))
    found = compared(mixed[:TEXTS], one, other)
    truth = compared(mixed[TEXTS:], one, other)
    if found is None or truth is None:
        return False
    log, variance = found
    reach = critical_value(0.05, FREEDOM) * math.sqrt(variance)
    # `truth` is itself estimated from few texts, so its error widens the interval
    allowed = math.sqrt(1 + TEXTS / (len(texts) - TEXTS))
    return abs(log - truth[0]) > reach * allowed


def compared(texts: Texts, one: str, other: str) -> tuple[float, float] | None:
    """(log, variance): the logarithm of the ratio of tokens per step, `one` over `other`, and the
    variance of this logarithm. None if all steps of a lane start in one segment."""
    # the true lengths of the texts do not matter here, as long as they are the same for both lanes
    pair = (
        ExpectedSteps((1,) * len(texts), tuple(tuple(text[name]) for text in texts))
        for name in (one, other)
    )
    return compare_expected(*pair, drafted=(one != "plain") + (other != "plain"))


def report(prompts: Sequence[Texts], races: int, seed: int) -> None:
    """Print the share of wrong intervals and the standard error for each pair of lanes."""
    for one, other in combinations(prompts[0][0], 2):
        found = [compared(texts[:TEXTS], one, other) for texts in prompts]
        errors = [math.sqrt(variance) for _, variance in filter(None, found)]
        share = outside(prompts, one, other, races, seed)
        print(
            f"{one} and {other}: true ratio outside the 95% interval in {share:.1%} of races; "
            f"standard error of one race {np.mean(errors):.1%}"
        )


def _recorded(path: Path) -> Sequence[Texts]:
    """The recorded steps in the file at `path`, by prompt. Raises SequoiaError if the file cannot
    be read or contains anything else."""
    try:
        prompts = [[_numbers(text) for text in texts] for texts in load_json(path)]
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise SequoiaError(f"--steps: {str(path)[:200]!r}: {str(problem)[:200]}") from None
    lanes = {
        tuple((lane, len(steps)) for lane, steps in text.items())
        for texts in prompts
        for text in texts
    }
    if len(lanes) != 1 or min(map(len, prompts)) <= TEXTS:
        raise SequoiaError(
            f"--steps: {str(path)[:200]!r}: every prompt needs at least {TEXTS + 1} texts, and all "
            "texts need the same lanes with equally many segments"
        )
    return prompts


def _numbers(text: Mapping[str, Sequence[Any]]) -> dict[str, list[float]]:
    return {lane: [float(value) for value in steps] for lane, steps in text.items()}


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    parser = option_parser("python -m sequoia.bench.expected_errors", __doc__)
    parser.add_argument("--steps", type=Path, default=FILE, help="file of expected steps")
    parser.add_argument(
        "--record",
        action="store_true",
        help="first decode texts with the bundled pair, and write their expected steps to --steps",
    )
    parser.add_argument("--texts", type=int, default=8, help="texts to record for each prompt")
    parser.add_argument("--prompts", type=int, default=6, help="prompts of each kind to record")
    parser.add_argument(
        "--races", type=int, default=2000, help="races to resample for each pair of lanes"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of all random draws")
    options = parser.parse_args(argv)
    whole(options.texts, "--texts", TEXTS + 1, 1000, SequoiaError)
    whole(options.prompts, "--prompts", 1, 1000, SequoiaError)
    whole(options.races, "--races", 1, MOST_RACES, SequoiaError)
    if options.record:
        require_writable(options.steps)
        params = SamplingParams(
            temperature=TEMPERATURE, max_new_tokens=128, seed=options.seed, ignore_eos=True
        )
        texts = [
            text
            for kind in ("code", "prose")
            for text in text_list(kind, ASSETS / "bench")[: options.prompts]
        ]
        made = record(load_pair(), texts, params, options.texts)
        with writing(options.steps):
            write_text(options.steps, json.dumps(made, separators=(",", ":")) + "\n")
    prompts = _recorded(options.steps)
    texts = sum(map(len, prompts))
    print(f"{len(prompts)} prompts with {texts} texts in all, temperature {TEMPERATURE:g}")
    report(prompts, options.races, options.seed)


if __name__ == "__main__":
    sys.exit(main())
