"""Compares all verifiers: tree verifiers on trees of the same size, and token and block
verification on a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.algorithm.verifiers.top_k_match import TOP_K_MATCH
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.experiments.experiment import Done, Unit
from sequoia.experiments.finding_words import count_or_none, lines, signed_percent
from sequoia.experiments.intervals import Score, comparison, point, score
from sequoia.experiments.planned import planning_vector
from sequoia.experiments.result import (
    Axis,
    Column,
    Comparison,
    ExperimentResult,
    Series,
    Settings,
)
from sequoia.experiments.text_units import (
    Case,
    Found,
    case_of,
    cases,
    found_by_case,
    found_by_prompt,
    params_of,
    step_starts_along,
    text_of_unit,
    tokens_per_step,
)
from sequoia.experiments.traversal_gain import traversal_gain
from sequoia.models.pair import Pair
from sequoia.planning.figure_words import and_list
from sequoia.planning.named_profiles import machine_name, named_profile
from sequoia.planning.simulated_step_times import step_seconds

OURS = "Sequoia"
# name -> method, which decides the colour
VERIFIERS = {
    OURS: SEQUOIA.key,
    "SpecInfer": SPECINFER.key,
    "top-k match": TOP_K_MATCH.key,
    "Traversal": TRAVERSAL.key,
    "chain": "chain",
    "block": "block",
}
# name -> verifier, for the verifiers that go down the tree child by child
WALKS = {OURS: SEQUOIA.key, "SpecInfer": SPECINFER.key, "top-k match": TOP_K_MATCH.key}
# name of a verifier that tests whole paths -> name of the verifier that it is compared with, on the
# tree of the latter
PATHS = {"Traversal": OURS, "block": "chain"}
# name -> label in results. For verifiers that are not listed, the label is the name.
_LABELS = {"chain": "chain, token verification", "block": "chain, block verification"}
# name -> words inside a sentence. For verifiers that are not listed, the words are the name.
_ON_A_CHAIN = {
    "chain": "token verification on the same chain",
    "block": "block verification on a chain",
}
_ALL_CASES = "all "  # how the text of a comparison over all cases begins
_HOT = " above temperature 0"
# Settings that the experiments share. nodes: size of each tree. chain: size of the chain. every:
# Traversal and block verification are measured only at every 8th token. profile: the machine that
# the speed-up is predicted for.
FIXED = {"nodes": 64, "chain": 8, "every": 8, "profile": "a100-llama2-7b-jf68m"}
NOTE = (
    "A case is a kind of text with one setting of temperature and top-p. Each tree verifier has "
    f"its own tree of {FIXED['nodes']} nodes, planned with its own acceptance rates; but Traversal "
    "uses Sequoia's. A tree with more levels takes longer to draft, so equal tokens per step can "
    "give different speed-ups. The speed-up is predicted with the paper's times on an A100 "
    "(Llama2-7B with JF68M). It assumes that a target pass takes equally long for any number of "
    "nodes."
)


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """tokens: for each name in VERIFIERS, the expected tokens per step along one text. speed: for
    each name, the predicted speed-up over plain decoding on the machine of the settings'
    profile."""
    trees = _trees(pair, unit)
    text = text_of_unit(pair, unit)
    lanes = {name: (tree, WALKS.get(name, SEQUOIA.key)) for name, tree in trees.items()}
    starts = step_starts_along(pair, text, lanes)
    made = {name: tokens_per_step(one, text.params) for name, one in starts.items()}
    for name, base in PATHS.items():
        gain = traversal_gain(pair, text, trees[base], starts[base], unit.work["every"])
        made[name] = round(float(made[base] * gain), 5)
        trees[name] = trees[base]
    profile = named_profile(unit.work["profile"])
    speed = {
        name: round(made[name] * profile.plain_seconds / step_seconds(tree, profile), 5)
        for name, tree in trees.items()
    }
    return {"tokens": made, "speed": speed}


def _trees(pair: Pair, unit: Unit) -> dict[str, Tree]:
    """A tree for each verifier in WALKS, planned with the acceptance rates of that verifier, and a
    chain."""
    kind = case_of(unit).kind
    params = params_of(unit)
    nodes = unit.work["nodes"]
    planned = {
        name: best_tree(planning_vector(pair, kind, params, rule), nodes)
        for name, rule in WALKS.items()
    }
    return {**planned, "chain": Tree.chain(unit.work["chain"])}


def summary(
    settings: Settings, done: Done, x: Axis, x_of: Callable[[Case], float]
) -> ExperimentResult:
    """The result of the units in `done`. x_of: the value of a case on the axis `x`."""
    found = found_by_case(settings, done)
    comparisons = [
        *_over_all_cases(settings, done),
        *(each for case, one in found.items() for each in _comparisons(case, one)),
    ]
    return ExperimentResult(
        finding=_finding(comparisons),
        x=x,
        y=Axis("tokens per step", "tokens per step"),
        series=tuple(_series(found, x_of)),
        columns=(
            Column("case", "texts"),
            Column("verifier", "verifier"),
            Column("tokens", "tokens per step", "measured"),
            Column("speed", f"speed-up on {machine_name(settings['profile'])}", "predicted"),
        ),
        rows=tuple(row for case, one in found.items() for row in _rows(case, one)),
        comparisons=tuple(comparisons),
    )


def _values(found: Found, figure: str, name: str) -> list[float]:
    return [one[figure][name] for one in found]


def _series(found: Mapping[Case, Found], x_of: Callable[[Case], float]) -> list[Series]:
    return [
        Series(
            _LABELS.get(name, name),
            method,
            kind,
            tuple(
                point(x_of(case), _values(one, "tokens", name))
                for case, one in found.items()
                if case.kind == kind
            ),
        )
        for kind in dict.fromkeys(case.kind for case in found)
        for name, method in VERIFIERS.items()
    ]


def _rows(case: Case, found: Found) -> list[Mapping[str, Any]]:
    return [
        {
            "case": case.words,
            "verifier": _LABELS.get(name, name),
            "tokens": point(0, _values(found, "tokens", name)).mean,
            "speed": point(0, _values(found, "speed", name)).mean,
        }
        for name in VERIFIERS
    ]


def _comparisons(case: Case, found: Found) -> list[Comparison]:
    """Ratios of tokens per step: Sequoia over the other tree verifiers, and block over token
    verification. Empty at temperature 0, where the two verifiers of each ratio accept the same
    tokens."""
    if case.temperature == 0:
        return []
    pairs = [(OURS, name) for name in ("SpecInfer", "top-k match", "Traversal")]
    return [
        comparison(
            f"{case.words}: {_in_words(one, other)}",
            _values(found, "tokens", one),
            _values(found, "tokens", other),
        )
        for one, other in [*pairs, ("block", "chain")]
    ]


def _in_words(one: str, other: str) -> str:
    return f"{_ON_A_CHAIN.get(one, one)} over {_ON_A_CHAIN.get(other, other)}"


def _over_all_cases(settings: Settings, done: Done) -> list[Comparison]:
    """For each entry in PATHS, the ratio of its two verifiers' tokens per step, over all cases
    above temperature 0. A single case has too few drafted trees to show a gain of a few per
    cent."""
    hot = [case for case in cases(settings) if case.temperature > 0]
    found = found_by_prompt(settings, done, hot)
    if not found:
        return []
    by_kind = {case.kind: [one for one in hot if one.kind == case.kind] for case in hot}
    counted = sum(len(some) for some in by_kind.values() if found_by_prompt(settings, done, some))
    label = f"{counted} cases" + _HOT * (len(hot) < len(cases(settings)))
    return [
        comparison(
            f"{_ALL_CASES}{label}: {_in_words(name, base)}",
            [sum(_values(one, "tokens", name)) for one in found],
            [sum(_values(one, "tokens", base)) for one in found],
        )
        for name, base in PATHS.items()
    ]


def _finding(comparisons: Sequence[Comparison]) -> str:
    """Sequoia against each of the other tree verifiers, and the gain of each verifier in PATHS."""
    by_name = {
        name: [one for one in comparisons if one.text.endswith(f": {OURS} over {name}")]
        for name in VERIFIERS
    }
    compared = {name: found for name, found in by_name.items() if found}
    if not compared:
        return ""
    over_all = [one for one in comparisons if one.text.startswith(_ALL_CASES)]
    hot = _HOT if any(_HOT in one.text for one in over_all) else ""
    ranges = (_range(name, found, hot) for name, found in compared.items())
    gains = map(_gain, over_all)
    return lines(_answer(compared, hot), *ranges, *gains)


def _answer(compared: Mapping[str, Sequence[Comparison]], hot: str) -> str:
    """A sentence on each verifier that clearly beats Sequoia more often than Sequoia clearly beats
    it, and one sentence on the others. The first verifier is said to emit the most tokens per step
    only if no two verifiers beat Sequoia, and each of these results is clear in most cases. hot:
    words after the number of cases."""
    scores = {name: score(found) for name, found in compared.items()}
    above = [name for name, one in scores.items() if one.higher < one.lower]
    below = [name for name in scores if name not in above]
    facts = [
        (name, f"than {OURS} in {_count(scores[name].lower, scores[name].total)}") for name in above
    ]
    if below:
        facts.append((OURS, _than(below, scores)))
    is_ranked = len(above) <= 1 and all(
        2 * max(one.higher, one.lower) > one.total for one in scores.values()
    )
    more = "the most tokens per step: clearly more" if is_ranked else "clearly more tokens per step"
    (first, than), *others = facts
    sentences = (f"{name} emits clearly more {than}." for name, than in others)
    return " ".join((f"{first} emits {more} {than} cases{hot}.", *sentences))


def _than(names: Sequence[str], scores: Mapping[str, Score]) -> str:
    """For example "than A and B in all 8 and than C in 6 of 8"."""
    by_count = dict[str, list[str]]()
    for name in names:
        one = scores[name]
        by_count.setdefault(_count(one.higher, one.total), []).append(name)
    return " and ".join(f"than {and_list(some)} in {count}" for count, some in by_count.items())


def _count(number: int, total: int) -> str:
    return f"all {total}" if number == total > 1 else f"{count_or_none(number)} of {total}"


def _range(name: str, found: Sequence[Comparison], hot: str) -> str:
    """A sentence on the range of the differences between Sequoia and `name`. The one that is more
    often clearly ahead comes first. hot: words that say which cases are compared."""
    counts = score(found)
    ratios = [one.ratio for one in found]
    first, second, fewer = OURS, name, counts.lower
    if counts.lower > counts.higher:
        first, second, fewer = name, OURS, counts.higher
        ratios = [1 / ratio for ratio in ratios]
    low, high = (signed_percent(pick(ratios) - 1) for pick in (min, max))
    but = f", and clearly fewer in {fewer} of {counts.total} cases" if fewer else ""
    return f"{first} compared with {second}{hot}: {low} to {high} tokens per step{but}."


def _gain(found: Comparison) -> str:
    """A sentence on a comparison over all cases: how many more tokens per step one verifier emits
    than the other."""
    label, pair = found.text.split(": ")
    name, base = pair.split(" over ")
    interval = ""
    if found.low is not None and found.high is not None:
        ends = " to ".join(f"{end - 1:+.1%}".replace("-", "−") for end in (found.low, found.high))
        interval = f" (95% interval: {ends})"
    more = "more" if found.ratio >= 1 else "fewer"
    return (
        f"Over {label}, {name} emits {abs(found.ratio - 1):.1%} {more} tokens per step than "
        f"{base}{interval}."
    )
