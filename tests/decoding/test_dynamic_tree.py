"""Trees that change from step to step: the output distribution is the target's, and the trees
adapt to what was accepted."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
import torch
from decoded import emitted
from exact import of_transformers, true_distribution
from fakes import PROMPTS, made_profile, same_pair, tiny_pair
from goodness_of_fit import fit

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.decoding.dynamic_tree import CalibratedTree, Calibration, Costs, DynamicChoice
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile

RATES = Acceptance((0.5, 0.2, 0.1))


def profile(node: float = 0.02, draft: float = 0.1) -> HardwareProfile:
    """A machine on which a plain token takes 1 s, each further node `node` seconds more, and a
    draft pass `draft` seconds."""
    return made_profile(
        target_seconds=tuple((n, 1 + node * (n - 1), 0.0) for n in (1, 2, 64, 256)),
        draft_seconds=((1, draft, 0.0),),
    )


# -- the output distribution -----------------------------------------------------------------------


@cache
def small_vocabulary() -> Pair:
    return tiny_pair("llama", vocab=5, layers=1, noise=2.0, seed=5)


def test_sampled_runs_follow_the_target_distribution() -> None:
    """The joint distribution of three tokens in 600 runs of the engine. A false alarm has a
    probability of 1e-6."""
    pair = small_vocabulary()
    params = SamplingParams(temperature=1.0, max_new_tokens=3, ignore_eos=True)
    results = []
    trees = set()
    for seed in range(600):
        # Temperature 0.0 here, although the run has 1.0. Even the first tree then depends on the
        # draft's probabilities.
        tree_choice = DynamicChoice(RATES, profile(), 0.0, 24, 4)
        steps = [*run(Decoder(pair, "a", dataclasses.replace(params, seed=seed), tree_choice))]
        trees |= {step.tree for step in steps}
        results.append(tuple(emitted(steps)))
    assert len(trees) >= 5
    assert fit(results, true_distribution(of_transformers(pair, "a", 1.0, 1.0), 3)) > 1e-6


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_text_equals_plain_decoding_and_every_run_emits_all_tokens(
    prompt: str, temperature: float
) -> None:
    params = SamplingParams(temperature=temperature, max_new_tokens=40, ignore_eos=True)
    tree_choice = DynamicChoice(RATES, profile(), temperature, 24, 6)
    steps = [*run(Decoder(tiny_pair(), prompt, params, tree_choice))]
    assert len(emitted(steps)) == 40
    assert all(len(step.tree) <= 24 and step.tree.levels <= 6 for step in steps)
    if temperature == 0:
        assert emitted(steps) == emitted(plain(tiny_pair(), prompt, params))


# -- the draft, and unusual trees ------------------------------------------------------------------


class Alternating:
    """Plain steps between steps with a tree: the draft has several tokens to catch up on."""

    most = 4

    def __init__(self) -> None:
        self.steps = 0

    def next(self, levels: int) -> Tree:
        self.steps += 1
        return (Tree.chain(1) if self.steps % 4 else Tree((-1, 0, 0, 1))).limit(levels)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        pass


def test_the_draft_catches_up_after_steps_without_it() -> None:
    """A draft equal to its target is accepted on every level, but only if all earlier tokens went
    through the draft."""
    params = SamplingParams(max_new_tokens=30, ignore_eos=True)
    steps = [*run(Decoder(same_pair(), PROMPTS[0], params, Alternating()))]
    assert emitted(steps) == emitted(plain(same_pair(), PROMPTS[0], params))
    full = [step for step in steps if len(step.tree) == 4]
    assert full
    assert all(len(step.emitted) == 3 for step in full)


def test_a_dynamic_tree_on_one_level_is_plain_decoding() -> None:
    params = SamplingParams(max_new_tokens=6, ignore_eos=True)
    tree_choice = DynamicChoice(RATES, profile(), 0.0, most=24, levels=1)
    steps = [*run(Decoder(tiny_pair(), PROMPTS[0], params, tree_choice))]
    assert {step.tree for step in steps} == {Tree.chain(1)}
    assert emitted(steps) == emitted(plain(tiny_pair(), PROMPTS[0], params))


def test_the_draft_keeps_what_was_accepted_of_a_grown_tree() -> None:
    """A spoiled draft cache would not change the text, only slow the run down. So this uses a draft
    equal to its target: with an intact cache, every path reaches a leaf."""
    params = SamplingParams(max_new_tokens=60, ignore_eos=True)
    for step in run(
        Decoder(same_pair(), PROMPTS[0], params, DynamicChoice(RATES, profile(), 0.0, 24, 6))
    ):
        if step.finish is None:
            assert not step.tree.children[step.verdict.path[-1]]


def test_q_equals_that_of_a_fresh_draft_pass() -> None:
    """q of every drafted token of a grown tree, compared with a new pass of the draft over the
    whole text."""
    pair = tiny_pair()
    params = SamplingParams(temperature=0.9, max_new_tokens=24, ignore_eos=True, seed=2)
    decoder = Decoder(pair, PROMPTS[0], params, DynamicChoice(RATES, profile(), 0.9, 16, 5))
    text = list(decoder.prompt)
    for step in run(decoder):
        for node in range(1, len(step.tree)):
            path = [step.tokens[place] for place in step.tree.path(step.tree.parents[node])[1:]]
            logits = pair.draft.open(len(text) + 8).extend([*text, *path])
            q = torch.softmax(logits.float() / 0.9, -1)[step.tokens[node]]
            assert step.draft_p[node] == pytest.approx(float(q), abs=1e-4)
        text += step.emitted


# -- how trees adapt -------------------------------------------------------------------------------


def grown_by(tree_choice: DynamicChoice) -> list[int]:
    """The numbers of nodes and levels of the tree that `tree_choice` grows for a draft of medium
    probabilities."""
    dynamic = tree_choice.next(8)
    while dynamic.front:
        dynamic.grow(torch.tensor([[0.5, 0.2, 0.2, 0.1]] * len(dynamic.front)))
    return [len(dynamic.tree), dynamic.tree.levels]


def test_a_dynamic_tree_learns_how_good_the_draft_is() -> None:
    """Nothing is accepted from the first 1500 trees. From each of the next 1500, the whole first
    branch is accepted. In the end, what was learnt from the first 1500 no longer counts."""
    tree_choice = DynamicChoice(RATES, profile(), 1.0, 16, 8)
    sizes = [grown_by(tree_choice)]
    for accepts in (False, True):
        for _ in range(1500):
            grown_by(tree_choice)
            tree = tree_choice._dynamic_tree.tree
            path = [0]
            while accepts and tree.children[path[-1]]:
                path.append(tree.children[path[-1]][0])
            tree_choice.learn(tree, Verdict(tuple(path), 0, ()))
        sizes.append(grown_by(tree_choice))
    at_first, hopeless, perfect = sizes
    assert hopeless[0] < at_first[0]
    assert perfect[1] > at_first[1]


def test_a_sure_draft_gets_a_chain_and_an_unsure_one_a_bush() -> None:
    def grown(row: list[float]) -> Tree:
        dynamic = CalibratedTree(
            Calibration(RATES, greedy=True), Costs(RATES, profile(), 12, 6), 12, 6
        )
        while dynamic.front:
            dynamic.grow(torch.tensor([row] * len(dynamic.front)))
        return dynamic.tree

    sure = grown([0.97, 0.01, 0.01, 0.01])
    unsure = grown([0.4, 0.3, 0.2, 0.1])
    assert max(map(len, sure.children)) == 1
    assert max(map(len, unsure.children)) > 1
    assert sure.levels > unsure.levels


def test_counts_replace_the_draft_probabilities() -> None:
    calibration = Calibration(RATES, greedy=True)
    probs = np.array([0.95, 0.02])
    before = calibration.rates(probs[None])[0]
    for _ in range(200):
        calibration.add(probs, None)
    after = calibration.rates(probs[None])[0]
    assert before[0] == pytest.approx(0.95)
    assert after[0] < 0.1
    assert (np.diff(calibration.rates(np.array([[0.1, 0.9]])), axis=1) <= 0).all()
