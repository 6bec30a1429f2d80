"""Tokens per step of different verifiers on the same trees, and their ratios to those of
Algorithm 2 (the paper's verifier, which is the default here). A ratio is taken for each prompt.
Means and 95% confidence intervals are over prompts. Tokens per step are measured, and also computed
as the expected value over the verifier's random draws."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.bench.decoders import VerifiedTree
from sequoia.bench.table import Row
from sequoia.decoding.engine import Decoder
from sequoia.diagnosis.race_verdict.student_t import critical_value
from sequoia.models.pair import Pair

_LEVEL = 0.05  # significance level of the 95% confidence intervals
_UNTIMED = 1_000_000  # added to the seed in `expected_tokens`, so that no timed run is repeated


@dataclass(frozen=True)
class Interval:
    """A mean with its 95% confidence interval. The bounds are NaN if there is only one prompt."""

    mean: float
    low: float
    high: float

    def words(self, unit: str = "", digits: int = 2) -> str:
        low, high = (f"{bound:.{digits}f}" for bound in (self.low, self.high))
        return f"{self.mean:.{digits}f}{unit} ({low}-{high})"


def over_prompts(values: Sequence[float]) -> Interval:
    """The geometric mean over prompts, with an interval from Student's t on the logarithms. values:
    a positive number for each prompt, such as tokens per step or a ratio of tokens per step."""
    logs = [math.log(value) for value in values]
    mean = statistics.fmean(logs)
    reach = math.nan
    if len(logs) > 1:
        error = statistics.stdev(logs) / math.sqrt(len(logs))
        reach = critical_value(_LEVEL, len(logs) - 1) * error
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))


def paired(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """The geometric mean of the ratios of `ours` to `theirs`, two decoders' values for the same
    prompts."""
    return over_prompts([one / other for one, other in zip(ours, theirs, strict=True)])


@dataclass(frozen=True)
class Gain:
    """Tokens per step of a verifier on a tree, and the ratios to those of Algorithm 2 on the same
    tree.

    measured: tokens per step of the timed runs.
    measured_over: the ratio of `measured` to that of Algorithm 2; None for Algorithm 2 itself.
    expected: expected tokens per step over the verifier's random draws, in a run of the verifier.
    on_same_drafts: the ratio of Traversal's expected tokens to those of Algorithm 2, at the steps
        of a run of Algorithm 2. Both verifiers draw children in the same way, so both can verify
        the trees drafted in this run. None for other verifiers.

    `expected` and `on_same_drafts` need the distributions on the host. They are None if a GPU
    verified the steps of the run.
    """

    name: str
    shape: str
    verifier: str
    measured: Interval
    measured_over: Interval | None
    expected: Interval | None = None
    on_same_drafts: Interval | None = None


def gains(
    pair: Pair,
    lanes: Sequence[VerifiedTree],
    rows: Sequence[Row],
    prompts: Sequence[str],
    params: SamplingParams,
) -> list[Gain]:
    """The gain of each lane. `lanes` must include Algorithm 2 on every tree. rows: the lanes' timed
    results, in the same order."""
    measured = {lane: row.by_prompt or [] for lane, row in zip(lanes, rows, strict=True)}
    expected = {lane: expected_tokens(pair, lane, prompts, params) for lane in lanes}
    return [_gain(lane, measured, expected) for lane in lanes]


def _gain(
    lane: VerifiedTree,
    measured: Mapping[VerifiedTree, Sequence[float]],
    expected: Mapping[VerifiedTree, Mapping[str, Sequence[float]]],
) -> Gain:
    base = replace(lane, verifier=DEFAULT_VERIFIER)
    own = expected[lane].get(lane.verifier)
    same = expected[base].get(lane.verifier)
    is_base = lane == base
    return Gain(
        lane.name,
        lane.shape,
        lane.verifier,
        over_prompts(measured[lane]),
        None if is_base else paired(measured[lane], measured[base]),
        over_prompts(own) if own else None,
        paired(same, expected[base][DEFAULT_VERIFIER]) if same and not is_base else None,
    )


def expected_tokens(
    pair: Pair, lane: VerifiedTree, prompts: Sequence[str], params: SamplingParams
) -> dict[str, list[float]]:
    """By the key of a verifier, its expected tokens per step for each prompt, at the steps of a run
    of `lane`. The verifiers are the lane's own and, if this is Algorithm 2, also Traversal. Empty
    if a GPU verifies the steps."""
    keys = [lane.verifier, *([TRAVERSAL.key] if lane.verifier == DEFAULT_VERIFIER else [])]
    found: dict[str, list[float]] = {key: [] for key in keys}
    for number, prompt in enumerate(prompts):
        decoder = Decoder(pair, prompt, params.further(_UNTIMED + number), lane.tree, lane.verifier)
        accepted = _accepted_along(decoder, [VERIFIERS[key] for key in keys])
        if accepted is None:
            return {}
        for key, of_steps in zip(keys, zip(*accepted, strict=True), strict=True):
            found[key].append(1 + statistics.fmean(of_steps))
    return found


def _accepted_along(decoder: Decoder, rules: Sequence[Verifier]) -> list[list[float]] | None:
    """For each step of `decoder`, the expected number of nodes that each of `rules` would accept.
    None if a GPU verifies the steps."""
    decoder.prefill()
    found = []
    while decoder.finish is None:
        decoder.step()
        accepted = [decoder.expected_under(rule) for rule in rules]
        if any(one is None for one in accepted):
            return None
        found.append(accepted)
    return found


# -- as text ---------------------------------------------------------------------------------------


def print_gains(found: Sequence[Gain], prompts: int) -> None:
    """Print a table of all gains, then one sentence for each gain that has `on_same_drafts`."""
    print(f"  tokens per step, with 95% intervals over {prompts} prompts (ratios paired by prompt)")
    print(f"  {'verifier':<56}{'measured':>20}{'over Algorithm 2':>22}{'expected':>20}")
    for one in found:
        over = one.measured_over.words("x", 3) if one.measured_over else ""
        expected = one.expected.words() if one.expected else ""
        print(f"  {one.name:<56}{one.measured.words():>20}{over:>22}{expected:>20}")
    for one in found:
        if one.on_same_drafts and one.measured_over:
            print(f"  {_sentence(one.name, one.measured_over, one.on_same_drafts)}")
    print(flush=True)


def _sentence(name: str, measured: Interval, expected: Interval) -> str:
    return (
        f"{name}: measured {measured.words('x', 3)} over Algorithm 2; expected "
        f"{expected.words('x', 4)} on the same drafted trees"
    )


def as_json(found: Sequence[Gain]) -> list[dict[str, Any]]:
    """`found` as JSON values, for the benchmark's file."""
    return [asdict(one) for one in found]
