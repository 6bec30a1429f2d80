"""How often all of the first k children are rejected, against k (paper: Figure 3). With draws
without replacement the rate falls like a power of k."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.verifiers import verifier_named
from sequoia.experiments.continuations import continuation, places
from sequoia.experiments.experiment import Done, Experiment, Unit
from sequoia.experiments.intervals import point
from sequoia.experiments.prompts import prompts_of
from sequoia.experiments.result import Axis, ExperimentResult, Series, Settings
from sequoia.models.pair import Pair

RULES = ("sequoia", "specinfer", "topk")


def units(settings: Settings) -> list[Unit]:
    """One for each prompt, kind and temperature."""
    return [
        Unit(
            f"{kind} {number}, T = {temperature:g}",
            {
                "kind": kind,
                "number": number,
                "temperature": temperature,
                "tokens": settings["tokens"],
                "ranks": settings["ranks"],
            },
        )
        for number in range(settings["prompts"])
        for kind in settings["kinds"]
        for temperature in settings["temperatures"]
    ]


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """Of each rule, the mean over a text of the probability that children 1 to k are rejected."""
    work = unit.work
    prompt = prompts_of(work["kind"])[work["number"]]
    params = SamplingParams(
        work["temperature"], max_new_tokens=work["tokens"], ignore_eos=True, seed=work["number"]
    )
    text = continuation(pair, prompt, params)
    chance = Seeded(params.seed, pair.draft.device)
    rejected: dict[str, list[Any]] = {name: [] for name in RULES}
    for place in places(pair, pair.encode(prompt), text, params):
        for name, found in rejected.items():
            rule = verifier_named(name)
            assert rule.chances is not None
            (siblings,) = rule.draw(chance, place.q_row, [work["ranks"]])
            found.append(1 - np.cumsum(rule.chances(place.p, place.q, siblings), dtype=float))
    return {name: np.mean(found, axis=0).round(5).tolist() for name, found in rejected.items()}


def summary(settings: Settings, done: Done) -> ExperimentResult:
    series = []
    for kind in settings["kinds"]:
        for temperature in settings["temperatures"]:
            keys = [f"{kind} {i}, T = {temperature:g}" for i in range(settings["prompts"])]
            found = [done[key] for key in keys if key in done]
            for name in RULES if found else ():
                columns = zip(*(one[name] for one in found), strict=True)
                points = tuple(point(k, values) for k, values in enumerate(columns, 1))
                panel = f"{kind}, T = {temperature:g}"
                series.append(Series(verifier_named(name).label, name, panel, points))
    return ExperimentResult(
        finding=_finding(series),
        x=Axis("children", "children of a node", "log"),
        y=Axis("rejected", "probability that all are rejected", "log"),
        series=tuple(series),
    )


def _finding(series: list[Series]) -> str:
    ours = [one.points[-1] for one in series if one.method == "sequoia"]
    if not ours:
        return ""
    mean = statistics.fmean(one.mean for one in ours)
    return f"Sequoia rejects all of {ours[0].x:g} children in {mean:.1%} of steps."


RANKS = Experiment(
    name="ranks",
    title="Rejection rate against the number of children",
    question="How much does each further child of a node help?",
    sizes={
        "small": {
            "kinds": ["code"],
            "prompts": 4,
            "tokens": 32,
            "ranks": 16,
            "temperatures": [0.6],
        },
        "full": {
            "kinds": ["code", "prose"],
            "prompts": 24,
            "tokens": 96,
            "ranks": 32,
            "temperatures": [0.6, 1.0],
        },
    },
    units=units,
    run_unit=run_unit,
    summary=summary,
)
