"""Does a tree beat a tuned chain? On several machines, at several temperatures, for code and prose
and for drafts of different quality, with the strongest rivals in the race. Steps are decoded with
the pair; their times are those of each machine's profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.experiments.chain_settings import VERIFIERS
from sequoia.experiments.chain_summary import summary
from sequoia.experiments.continuations import continuation
from sequoia.experiments.draft_quality import with_draft
from sequoia.experiments.experiment import Experiment, Unit
from sequoia.experiments.prompts import prompts_of
from sequoia.experiments.result import Settings
from sequoia.experiments.rivals import SHAPES, Learnt, learnt, plans_for
from sequoia.experiments.steps_along import (
    DecodedStep,
    Text,
    speedup,
    steps_along,
    tokens_per_step,
)
from sequoia.models.pair import Pair
from sequoia.planning.named_profiles import named_profile

DIGITS = 5


def units(settings: Settings) -> list[Unit]:
    """One for each prompt, kind, temperature and draft, on all machines."""
    return [
        Unit(
            f"{kind} {number}, T = {temperature:g}, draft {draft}",
            {
                **{key: settings[key] for key in ("machines", "tokens", "stride", "planning")},
                "kind": kind,
                "number": number,
                "temperature": temperature,
                "draft": draft,
            },
        )
        for number in range(settings["prompts"])
        for temperature, draft in settings["conditions"]
        for kind in settings["kinds"]
    ]


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """first: the acceptance of a first child on the planning texts. machines: of each, what was
    planned, and of each rival [tokens per step, speed-up over plain decoding]."""
    work = unit.work
    mine = with_draft(pair, work["draft"])
    found = learnt(mine, work["kind"], work["temperature"], *work["planning"])
    race = _Race(mine, work, found)
    return {
        "first": round(found.acceptance.rates[0], DIGITS),
        "machines": {name: race.on(name) for name in work["machines"]},
    }


class _Race:
    """All rivals on one prompt. A tree that is planned for several machines is decoded once."""

    def __init__(self, pair: Pair, work: Mapping[str, Any], found: Learnt) -> None:
        self._pair = pair
        prompt = prompts_of(work["kind"])[work["number"]]
        self._params = SamplingParams(
            work["temperature"],
            max_new_tokens=work["tokens"],
            ignore_eos=True,
            seed=work["number"],
        )
        self._text = Text(pair.encode(prompt), continuation(pair, prompt, self._params))
        self._stride = work["stride"]
        self._learnt = found
        self._known: dict[tuple[Any, ...], tuple[DecodedStep, ...]] = {}

    def on(self, machine: str) -> dict[str, Any]:
        profile = named_profile(machine)
        plans = plans_for(self._learnt, profile)
        return {
            "chain": len(plans.chain),
            "tree": [len(plans.tree), plans.tree.levels, max(map(len, plans.tree.children))],
            "stop": [plans.stop.most, plans.stop.surest],
            "speeds": dict(self._speeds(machine)),
        }

    def _speeds(self, machine: str) -> Iterator[tuple[str, list[float]]]:
        profile = named_profile(machine)
        for verifier in self._verifiers:
            for rival in SHAPES:
                steps = self._steps(rival.key, verifier, machine)
                numbers = (tokens_per_step(steps), speedup(steps, profile))
                yield f"{rival.key} {verifier}", [round(number, DIGITS) for number in numbers]

    @property
    def _verifiers(self) -> tuple[str, ...]:
        """At temperature 0 all verifiers accept the same."""
        return tuple(VERIFIERS) if self._params.temperature else (SEQUOIA.key,)

    def _steps(self, shape: str, verifier: str, machine: str) -> tuple[DecodedStep, ...]:
        profile = named_profile(machine)
        plans = plans_for(self._learnt, profile)
        rival = next(one for one in SHAPES if one.key == shape)
        tree = rival.make(self._learnt, plans, profile, self._params.temperature)
        if isinstance(tree, Tree):
            key: tuple[Any, ...] = (tree, verifier)
        elif shape == "stopping":
            key = (shape, plans.stop.most, plans.stop.surest, verifier)
        else:
            key = (shape, machine, verifier)
        if key not in self._known:
            made = steps_along(self._pair, self._text, self._params, tree, verifier, self._stride)
            self._known[key] = tuple(step for step, _, _ in made)
        return self._known[key]


CHAIN = Experiment(
    name="chain",
    title="Tree against tuned chain",
    question="Where is a tree faster than a chain whose length is tuned, and why?",
    sizes={
        "small": {
            "kinds": ["code"],
            "machines": ["a100-llama-2-7b-graphs", "m1-max-qwen3-8b"],
            "conditions": [[0.6, "as it is"]],
            "prompts": 4,
            "tokens": 48,
            "stride": 6,
            "planning": [2, 48],
        },
        "full": {
            "kinds": ["code", "prose"],
            "machines": [
                "l40-llama-3-70b-offloaded",
                "a100-llama-2-7b-graphs",
                "m1-max-qwen3-8b",
                "epyc-2-cores-bundled",
            ],
            "conditions": [
                [0.0, "as it is"],
                [0.6, "as it is"],
                [1.0, "as it is"],
                [0.6, "better"],
                [0.6, "worse"],
            ],
            "prompts": 6,
            "tokens": 64,
            "stride": 5,
            "planning": [4, 64],
        },
    },
    units=units,
    run_unit=run_unit,
    summary=summary,
)
