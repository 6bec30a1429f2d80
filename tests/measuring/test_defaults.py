"""The tree that is used when none is given, and the arguments that `speculate` refuses when it is
called, before its first step."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from decoded import emitted
from fakes import PROMPTS, made_profile, tiny_pair

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import text_list
from sequoia.decoding.engine import plain
from sequoia.errors import BadPrompt
from sequoia.measuring import defaults
from sequoia.measuring.defaults import (
    acceptance_of,
    default_chain,
    default_plan,
    speculate,
    text_kind,
)
from sequoia.models.pair import MAX_PROMPT_CHARS, Pair, PairCache, RecordedAcceptance
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_chain, best_plan
from sequoia.text_files import load_json

COLD = Acceptance((0.8, 0.1, 0.05))
WARM = Acceptance((0.5, 0.2, 0.1))


def profile(verify: tuple[float, float], draft: float = 0.05) -> HardwareProfile:
    """verify: seconds of a target pass over 1 node and over 128 nodes. draft: seconds of a draft
    pass."""
    return made_profile(
        target_seconds=((1, verify[0], 0.0), (128, verify[1], 0.0)),
        draft_seconds=((1, draft, 0.0),),
    )


BY_TEMPERATURE = (RecordedAcceptance(0.0, COLD), RecordedAcceptance(1.0, WARM))


def ready(
    known: tuple[RecordedAcceptance, ...] = BY_TEMPERATURE, found: HardwareProfile | None = None
) -> Pair:
    """A pair with recorded acceptance and a profile, so that nothing has to be measured."""
    return dataclasses.replace(
        tiny_pair(), known=known, measured=PairCache(found or profile((1.0, 1.2)))
    )


@pytest.fixture
def nothing_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("measure_profile", "count_acceptance"):
        monkeypatch.setattr(defaults, name, lambda *_, **__: pytest.fail("something was measured"))


# -- recorded or measured --------------------------------------------------------------------------


@pytest.mark.usefixtures("nothing_measured")
@pytest.mark.parametrize(("temperature", "wanted"), [(0.1, COLD), (1.1, WARM)])
def test_recorded_acceptance_nearest_in_temperature_is_used(
    temperature: float, wanted: Acceptance
) -> None:
    assert acceptance_of(ready(), SamplingParams(temperature=temperature)) == (wanted, "recorded")


@pytest.mark.parametrize(
    ("params", "verifier"),
    [
        (SamplingParams(temperature=0.4), "sequoia"),
        (SamplingParams(temperature=1.0, top_p=0.9), "sequoia"),
        (SamplingParams(temperature=1.0), "specinfer"),
    ],
)
def test_acceptance_counted_with_other_settings_is_not_used(
    params: SamplingParams, verifier: str
) -> None:
    assert acceptance_of(ready(), params, verifier)[1] == "measured"


@pytest.mark.usefixtures("nothing_measured")
def test_at_temperature_0_all_verifiers_accept_alike() -> None:
    for verifier in VERIFIERS:
        assert acceptance_of(ready(), SamplingParams(top_p=0.5), verifier) == (COLD, "recorded")


CODE = RecordedAcceptance(1.0, WARM, "code", 0.7)
PROSE = RecordedAcceptance(1.0, COLD, "prose", 0.5)


@pytest.mark.usefixtures("nothing_measured")
@pytest.mark.parametrize(("agreement", "wanted"), [(0.61, CODE), (0.59, PROSE)])
def test_recorded_acceptance_is_that_of_the_kind_with_the_nearest_agreement(
    agreement: float, wanted: RecordedAcceptance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(defaults, "shared_mass", lambda *_: torch.full((30,), agreement))
    pair = ready((CODE, PROSE))
    assert acceptance_of(pair, SamplingParams(temperature=1.0), texts=["some text"]) == (
        wanted.acceptance,
        f"recorded {wanted.kind}",
    )
    assert (
        default_plan(pair, SamplingParams(temperature=1.0), texts=["some text"]).expected_tokens
        == default_plan(ready((wanted,)), SamplingParams(temperature=1.0)).expected_tokens
    )


@pytest.mark.parametrize(
    ("shared", "wanted"),
    [
        ([0.5], "code"),
        ([0.3, 0.5], "prose"),
        ([0.5, 0.9], "code"),
    ],
)
def test_a_text_too_short_to_decide_is_of_the_usual_kind(
    shared: list[float], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual kind is that of the pair's first vector, here code. A text counts as prose only if
    the mean agreement of the models on it is nearer to 0.5 (prose) than to 0.7 (code), by more than
    the standard error of that mean."""
    monkeypatch.setattr(defaults, "shared_mass", lambda *_: torch.tensor(shared))
    assert text_kind(ready((CODE, PROSE)), ["some text"]) == wanted
    assert text_kind(ready((CODE, PROSE)), []) == "code"
    assert text_kind(ready((PROSE,)), ["some text"]) == "prose"


def test_without_a_record_acceptance_is_measured_once_for_each_distribution() -> None:
    pair = tiny_pair()
    first, word = acceptance_of(pair, SamplingParams())
    assert word == "measured"
    assert len(first.rates) == 8
    assert 0 < sum(first.rates) <= 1
    assert acceptance_of(pair, SamplingParams(seed=5, max_new_tokens=3))[0] is first
    assert acceptance_of(pair, SamplingParams(temperature=1.0))[0] is not first
    assert (
        acceptance_of(pair, SamplingParams(temperature=1.0, top_p=0.5))[0]
        is not acceptance_of(pair, SamplingParams(temperature=1.0))[0]
    )


# -- the plan --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("nothing_measured")
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_default_plan_is_the_best_for_the_recorded_acceptance(temperature: float) -> None:
    pair = ready()
    plan = default_plan(pair, SamplingParams(temperature=temperature))
    acceptance = WARM if temperature else COLD
    best = best_plan(acceptance, pair.measured.profile, slack=defaults.SLACK)
    assert plan == dataclasses.replace(best, source="recorded")
    assert plan.acceptance == acceptance
    assert 1 < len(plan.tree) <= 128
    assert plan.tree.levels <= 16
    assert len(default_plan(pair, SamplingParams(temperature=temperature), most=5).tree) == 5


@pytest.mark.usefixtures("nothing_measured")
def test_tree_and_chain_are_planned_by_the_same_rule() -> None:
    """Both use the same acceptance, times, bounds and slack, so a race between them compares only
    their shapes."""
    pair = ready()
    params = SamplingParams(temperature=1.0)
    plan = default_chain(pair, params)
    best = best_chain(WARM, pair.measured.profile, slack=defaults.SLACK)
    assert plan == dataclasses.replace(best, source="recorded")
    assert plan.acceptance == WARM == default_plan(pair, params).acceptance
    assert 1 < len(plan.tree) == plan.tree.levels <= 16
    assert len(default_chain(pair, params, most=3).tree) == 3


@pytest.mark.usefixtures("nothing_measured")
def test_a_chain_has_at_least_two_nodes() -> None:
    """A race has a lane with plain decoding already. So the chain has two nodes even if plain
    decoding is predicted to be faster. With `most=1` it has one node."""
    pair = ready(found=profile((1.0, 128.0), draft=5.0))
    plan = default_chain(pair, SamplingParams())
    assert len(plan.tree) == 2
    assert plan.predicted_speedup < 1
    assert len(default_chain(pair, SamplingParams(), most=1).tree) == 1


def test_the_bundled_acceptance_was_not_measured_on_the_example_prompts() -> None:
    """For these example prompts, the race says that acceptance was "recorded on other texts". That
    must be true."""
    surveyed = [text for kind in ("code", "prose") for text in text_list(kind, ASSETS / "survey")]
    assert len(surveyed) > 20
    for prompt in load_json(ASSETS / "prompts.json")["prompts"]:
        assert prompt["text"] not in surveyed
        assert not any(text in prompt["text"] or prompt["text"] in text for text in surveyed)
        assert prompt["text"] not in defaults._SAMPLE


@pytest.mark.usefixtures("nothing_measured")
def test_a_machine_on_which_no_tree_pays_gets_plain_decoding() -> None:
    pair = ready(found=profile((1.0, 128.0), draft=5.0))
    params = SamplingParams(max_new_tokens=12, ignore_eos=True)
    assert default_plan(pair, params).tree == Tree.chain(1)
    assert emitted(speculate(pair, PROMPTS[0], params)) == emitted(plain(pair, PROMPTS[0], params))


@pytest.mark.usefixtures("nothing_measured")
def test_speculate_uses_the_planned_tree_where_none_is_given() -> None:
    pair = ready()
    params = SamplingParams(max_new_tokens=64, ignore_eos=True)
    assert next(speculate(pair, PROMPTS[0], params)).tree == default_plan(pair, params).tree
    given = Tree.chain(3)
    assert next(speculate(pair, PROMPTS[0], params, given)).tree == given


def test_speculate_with_a_pair_of_which_nothing_is_known() -> None:
    """The machine is measured first, and the text is that of plain decoding."""
    pair = tiny_pair()
    params = SamplingParams(max_new_tokens=24, ignore_eos=True)
    assert emitted(speculate(pair, PROMPTS[0], params)) == emitted(plain(pair, PROMPTS[0], params))
    assert pair.measured.profile.source == "measured"


# -- prompts and arguments at the call -------------------------------------------------------------


@pytest.mark.usefixtures("nothing_measured")
@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("x" * (MAX_PROMPT_CHARS + 1), "characters; the limit is"),
        ("x" * 512, "the prompt has 512 tokens; the limit is 511"),
        ("ab\ud83d", "half a character"),
    ],
)
def test_a_bad_prompt_is_refused_at_the_call(prompt: str, reason: str) -> None:
    """Before the first step, and before anything is measured for a plan."""
    with pytest.raises(BadPrompt, match=reason):
        speculate(tiny_pair(), prompt, SamplingParams())
