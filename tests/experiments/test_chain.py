"""The experiments `chain` and `hardware`, run with tiny models: what holds for any pair, and parts
whose results are known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.experiments.chain import with_draft
from sequoia.experiments.steps_along import (
    DecodedStep,
    DrawsByContext,
    steps_along,
    tokens_per_step,
)
from sequoia.experiments.texts import Text, continued
from sequoia.measuring.acceptance_teacher_forced import agreement
from sequoia.measuring.stopping_chain import LongChainStep, StoppingChain, best_stop_rule
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from tests.fakes import same_pair, tiny_pair


@cache
def pair() -> Pair:
    return tiny_pair(context=1024)


def text_after(pair: Pair, temperature: float, tokens: int = 12) -> Text:
    params = SamplingParams(temperature, max_new_tokens=tokens, ignore_eos=True)
    return continued(pair, "def add", params)


# -- steps along a text ----------------------------------------------------------------------------


def steps(pair: Pair, text: Text, tree: object, verifier: str = "sequoia") -> list[DecodedStep]:
    places = range(0, len(text.tokens), 3)
    return [step for step, _, _ in steps_along(pair, text, tree, [verifier], places)]  # type: ignore[arg-type]


@pytest.mark.parametrize("verifier", ["sequoia", "traversal"])
def test_a_draft_like_the_target_is_accepted_at_every_place(verifier: str) -> None:
    """Steps start at positions several tokens apart. If the KV cache were wrong after such a jump,
    tokens would be rejected."""
    text = text_after(same_pair(), 0.8)
    for tree in (Tree.chain(4), StoppingChain(4, 0.0)):
        found = steps(same_pair(), text, tree, verifier)
        assert len(found) == 4
        assert tokens_per_step(found) == pytest.approx(4, abs=1e-3)


def test_decoders_draw_the_same_children_for_the_same_node() -> None:
    text = text_after(pair(), 0.8)
    trees = (Tree.chain(3), Tree((-1, 0, 0, 1)), StoppingChain(3, 0.0))
    chains = []
    for tree in trees:
        made = steps_along(pair(), text, tree, ["sequoia"], range(0, len(text.tokens), 4))
        chains.append(
            [
                [drafted.tokens[node] for node in (0, 1, len(drafted.tokens) - 1)]
                for _, drafted, _ in made
            ]
        )
    assert chains[0] == chains[1] == chains[2]


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_draws_by_context_follow_q_and_are_fresh_for_each_context(device: str) -> None:
    chance = DrawsByContext(3, device)
    q = torch.tensor([[0.6, 0.3, 0.1]], dtype=torch.float32, device=device)
    counts = np.zeros(3)
    for number in range(3000):
        chance.begin((number,), [(0,)])
        ((first, second),) = chance.without_replacement(q, [2])
        assert first != second
        counts[first] += 1
    assert np.abs(counts / 3000 - q[0].cpu().numpy()).max() < 0.05


def flat(node: float = 0.0) -> HardwareProfile:
    """A machine on which a target pass over one node takes 1 s. Each further node adds `node` s. A
    draft pass takes 0.1 s."""
    return HardwareProfile(
        "a synthetic machine",
        "float32",
        "target",
        "draft",
        0,
        ((1, 1.0, 0.0), (101, 1 + 100 * node, 0.0)),
        ((1, 0.1, 0.0),),
        "simulated",
        "2026-11-25",
    )


# -- planning --------------------------------------------------------------------------------------


def test_the_stop_rule_follows_what_was_accepted() -> None:
    sure = LongChainStep((0.9, 0.9, 0.9, 0.9), 4)
    unsure = LongChainStep((0.9, 0.2, 0.9, 0.9), 1)
    rule = best_stop_rule([sure, unsure] * 5, flat())
    assert rule.max_nodes == 5
    assert 0.2 < rule.min_prob <= 0.9
    assert rule.predicted_speedup == pytest.approx((5 + 2) / (1.4 + 1.2))
    never = best_stop_rule([LongChainStep((0.5, 0.5), 0)], flat())
    assert never.max_nodes == 2
    assert best_stop_rule([sure], flat()).predicted_speedup == pytest.approx(5 / 1.4)


def test_drafts_differ_in_quality_and_are_made_once() -> None:
    good = same_pair()
    worse = with_draft(good, "worse")
    assert with_draft(good, "as it is") is good
    assert with_draft(good, "worse") is worse
    assert agreement(worse, ["def add(a, b):"]) < agreement(good, ["def add(a, b):"]) - 0.02
