"""The experiments `chain` and `hardware`, run with tiny models: what holds for any pair, and parts
whose results are known."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.tree_choice import StoppingChain
from sequoia.errors import BadPair, BadPrompt, BadTrace
from sequoia.experiments.chain import with_draft
from sequoia.experiments.steps_along import (
    DecodedStep,
    DrawsByContext,
    speedup,
    steps_along,
    tokens_per_step,
)
from sequoia.experiments.texts import Text, continued
from sequoia.measuring.acceptance_teacher_forced import agreement
from sequoia.measuring.stop_rule import LongChainStep, best_stop_rule, measured_stop_rule
from sequoia.models.pair import Pair, PairCache
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.simulated_step_times import step_seconds
from tests.fakes import VOCAB, pair_of, same_pair, tiny_model, tiny_pair, tiny_tokenizer

CPU = named_profile("epyc-2-cores-bundled")


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
    q = torch.tensor([[0.6, 0.3, 0.1]], device=device)
    counts = np.zeros(3)
    for number in range(3000):
        chance.begin((number,), [(0,)])
        ((first, second),) = chance.without_replacement(q, [2])
        assert first != second
        counts[first] += 1
    assert np.abs(counts / 3000 - q[0].cpu().numpy()).max() < 0.05


def test_the_time_of_a_fixed_tree_is_the_planned_one() -> None:
    tree = Tree((-1, 0, 0, 1))
    step = DecodedStep((2.5,), len(tree), tree.widths)
    assert step.seconds(CPU) == pytest.approx(step_seconds(tree, CPU))
    plain = DecodedStep((1.0,), 1, ())
    assert speedup([plain, plain], CPU) == pytest.approx(1)


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


def test_without_steps_or_prompts_there_is_no_stop_rule() -> None:
    with pytest.raises(BadTrace, match="steps with long chains; 0 were given, at least 1"):
        best_stop_rule([], flat())
    with pytest.raises(BadPrompt, match="measured on prompts; 0 were given, at least 1"):
        measured_stop_rule(tiny_pair(), [], SamplingParams(), flat())


def test_drafts_differ_in_quality_and_are_made_once() -> None:
    good = same_pair()
    worse = with_draft(good, "worse")
    assert with_draft(good, "as it is") is good
    assert with_draft(good, "worse") is worse
    assert agreement(worse, ["def add(a, b):"]) < agreement(good, ["def add(a, b):"]) - 0.02


def test_a_draft_made_from_a_padded_target_has_the_common_vocabulary() -> None:
    padded = pair_of(tiny_model(vocab=VOCAB + 8), tiny_model(), tiny_tokenizer())
    assert with_draft(padded, "better").draft.vocab == padded.target.vocab == VOCAB


def test_no_draft_is_made_from_a_streamed_target() -> None:
    pair = same_pair()
    target = TreeModel(pair.target.hf, "m", placement="1 of 2 layers streamed from host memory")
    with pytest.raises(BadPair, match=r"are not all on one device \(1 of 2 layers streamed"):
        with_draft(replace(pair, target=target, measured=PairCache()), "better")
