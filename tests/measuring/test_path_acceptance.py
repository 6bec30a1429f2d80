"""Acceptance counted along the paths that Traversal accepts, and the plans made from it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import PROMPTS, made_profile, tiny_pair

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadPrompt
from sequoia.measuring.acceptance import path_acceptance
from sequoia.measuring.defaults import acceptance_of, default_plan, own_paths_of, own_paths_plan
from sequoia.models.pair import Pair, RecordedAcceptance

TREE = Tree((-1, 0, 0, 1, 2))
USUAL = Acceptance((0.5, 0.2, 0.1))
WARM = SamplingParams(temperature=0.6, max_new_tokens=60, ignore_eos=True)
ROOT = Acceptance((0.6, 0.2, 0.1))
PATHS = Acceptance((0.9, 0.02, 0.01))
PROFILE = made_profile(target_seconds=((1, 0.01, 0), (32, 0.02, 0)), draft_seconds=((1, 1e-4, 0),))


def test_the_vector_predicts_the_tokens_per_step_of_its_tree() -> None:
    pair = tiny_pair()
    found = path_acceptance(pair, PROMPTS[:2], WARM, TREE, "traversal", USUAL)
    assert found.steps > 20
    assert 1 <= found.tokens_per_step <= TREE.levels
    assert expected_tokens(TREE, found.acceptance) == pytest.approx(found.tokens_per_step, abs=1e-6)
    assert len(found.acceptance.rates) == len(USUAL.rates)


def test_counting_is_refused_if_no_step_has_the_whole_tree() -> None:
    with pytest.raises(BadPrompt, match="whole tree of 3 levels"):
        path_acceptance(tiny_pair(), [], WARM, TREE, "traversal", USUAL)


def known(own: Acceptance | None) -> Pair:
    return replace(tiny_pair(), known=(RecordedAcceptance(0.6, ROOT, "code", own_paths=own),))


def test_traversal_is_planned_with_both_vectors() -> None:
    pair = known(PATHS)
    assert acceptance_of(pair, WARM, "traversal") == (ROOT, "recorded code")
    assert own_paths_of(pair, WARM, "traversal") == (PATHS, "recorded code")
    plans = [
        default_plan(pair, WARM, "traversal", profile=PROFILE),
        own_paths_plan(pair, WARM, "traversal", profile=PROFILE),
    ]
    assert [plan.acceptance for plan in plans if plan] == [ROOT, PATHS]
    assert len({plan.tree for plan in plans if plan}) == 2
    assert default_plan(pair, WARM, "sequoia", profile=PROFILE) == plans[0]


@pytest.mark.parametrize(
    ("own", "verifier", "temperature"),
    [(None, "traversal", 0.6), (PATHS, "sequoia", 0.6), (PATHS, "traversal", 0.0)],
)
def test_other_cases_have_only_the_usual_plan(
    own: Acceptance | None, verifier: str, temperature: float
) -> None:
    """There is no plan from the rates along accepted paths if no such rates are recorded, if the
    verifier is Sequoia's, or if the temperature is 0."""
    params = replace(WARM, temperature=temperature)
    assert own_paths_of(known(own), params, verifier) is None
    assert own_paths_plan(known(own), params, verifier, profile=PROFILE) is None
