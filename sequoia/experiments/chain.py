"""Is a planned tree faster than a tuned chain (a chain of the length predicted to be fastest)? The
experiment compares these and other decoders on several machines. The models really decode the
steps, but the times are simulated from each machine's profile."""

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
from sequoia.experiments.rivals import SHAPES, PlanningData, Plans, Rival, planning_data, plans_for
from sequoia.experiments.steps_along import (
    DecodedStep,
    speedup,
    steps_along,
    tokens_per_step,
)
from sequoia.experiments.text_units import Text
from sequoia.models.pair import Pair
from sequoia.planning.named_profiles import named_profile

DIGITS = 5  # decimal places of results


def units(settings: Settings) -> list[Unit]:
    """A unit for each prompt of each kind, under each of the `conditions` (a temperature and a
    draft). Each unit covers all machines."""
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
    """first: the acceptance rate of a first child, from the acceptance vector that trees are
    planned with. machines: what `_Race.on` returns for each machine."""
    work = unit.work
    unit_pair = with_draft(pair, work["draft"])
    found = planning_data(unit_pair, work["kind"], work["temperature"], *work["planning"])
    race = _Race(unit_pair, work, found)
    return {
        "first": round(found.acceptance.rates[0], DIGITS),
        "machines": {name: race.on(name) for name in work["machines"]},
    }


class _Race:
    """All decoders along the text of one prompt. If several machines have the same planned tree or
    chain, it is decoded only once."""

    def __init__(self, pair: Pair, work: Mapping[str, Any], found: PlanningData) -> None:
        self._pair = pair
        prompt = prompts_of(work["kind"])[work["number"]]
        params = SamplingParams(
            work["temperature"], 1.0, work["tokens"], work["number"], ignore_eos=True
        )
        self._text = Text(pair.encode(prompt), continuation(pair, prompt, params), params)
        self._stride = work["stride"]
        self._data = found
        self._known: dict[tuple[Any, ...], tuple[DecodedStep, ...]] = {}

    def on(self, machine: str) -> dict[str, Any]:
        """The result for one machine. chain: nodes of the tuned chain. tree: [nodes, levels, max
        children] of the planned tree. stop: [max nodes, draft probability below which it stops] of
        the stopping chain. speeds: for each decoder and verifier, [tokens per step, speed-up over
        plain decoding]."""
        plans = plans_for(self._data, named_profile(machine))
        return {
            "chain": len(plans.chain),
            "tree": [len(plans.tree), plans.tree.levels, max(map(len, plans.tree.children))],
            "stop": [plans.stop.max_nodes, plans.stop.min_prob],
            "speeds": dict(self._speeds(machine, plans)),
        }

    def _speeds(self, machine: str, plans: Plans) -> Iterator[tuple[str, list[float]]]:
        profile = named_profile(machine)
        for verifier in self._verifiers:
            for rival in SHAPES:
                steps = self._steps(rival, verifier, machine, plans)
                numbers = (tokens_per_step(steps), speedup(steps, profile))
                yield f"{rival.key} {verifier}", [round(number, DIGITS) for number in numbers]

    @property
    def _verifiers(self) -> tuple[str, ...]:
        """At temperature 0 all verifiers accept the same tokens, so one is enough."""
        return tuple(VERIFIERS) if self._text.params.temperature else (SEQUOIA.key,)

    def _steps(
        self, rival: Rival, verifier: str, machine: str, plans: Plans
    ) -> tuple[DecodedStep, ...]:
        temperature = self._text.params.temperature
        tree = rival.make(self._data, plans, named_profile(machine), temperature)
        # two TreeChoices cannot be compared, so the key contains what their trees depend on
        depends_on = machine if rival.learns else (plans.stop.max_nodes, plans.stop.min_prob)
        key = (verifier, tree if isinstance(tree, Tree) else (rival.key, depends_on))
        if key not in self._known:
            made = steps_along(self._pair, self._text, tree, verifier, self._stride)
            self._known[key] = tuple(step for step, _, _ in made)
        return self._known[key]


CHAIN = Experiment(
    name="chain",
    title="Tree vs. tuned chain",
    question="When is a tree faster than a chain of the best length, and why?",
    sizes={
        "small": {
            "kinds": ["code"],
            "machines": ["a100-llama-2-7b-graphs", "m1-max-qwen3-8b"],
            "conditions": [[0.6, "as it is"]],
            "prompts": 4,  # of each kind
            "tokens": 48,  # after each prompt
            "stride": 6,  # tokens between the starts of two steps
            "planning": [2, 48],  # texts to plan stopping chains on: number, tokens of each
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
            "tokens": 48,
            "stride": 6,
            "planning": [4, 48],
        },
    },
    units=units,
    run_unit=run_unit,
    summary=summary,
    note="\n".join(
        (
            "Tuned chain: the chain of the length predicted to be fastest. In the plots, its speed "
            "is 1.",
            "Chain that stops when unsure: ends after a token with a low draft probability.",
            "Planned tree: the tree predicted to be fastest.",
            "Replanned tree: planned again while decoding, from the acceptance counted so far.",
            "Dynamic tree: grown anew at each step, for the text so far.",
            "Traversal: a verifier that tests whole paths. All others use Sequoia's verifier. At "
            "temperature 0 both accept the same tokens, so Traversal is left out (–).",
            "Better draft: the target with some noise in its weights. Worse draft: the draft with "
            "noise in its weights.",
            "A setting is one machine, kind of text, temperature and draft.",
        )
    ),
)
