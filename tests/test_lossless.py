"""The lossless meter: what it must let pass and what it must catch, at temperature 0 and above, on tiny pairs and made-up rows.

The tests that count tokens have fixed seeds. With fresh ones a right verifier would be called different about three times in a
million runs of this file (three verifiers, one look each at 1e-6), and the rates of p-values would leave their bounds in fewer
than one in a million.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import torch
from fakes import KINDS, PROMPTS, tiny_pair
from test_chance import fit
from test_mutants import REJECTIONS, residual_without_the_token_only

from sequoia.acceptance import Acceptance
from sequoia.dynamic import Dynamic
from sequoia.engine import Decoder, plain, run
from sequoia.errors import BadModel, BadPolicy, BadPrompt
from sequoia.hardware import HardwareProfile
from sequoia.lossless import (
    ALARM,
    TIE_ULP,
    FirstTokens,
    check_text,
    compare,
    first_law,
    first_tokens,
    judge,
    margin,
    reference_logits,
    ulp,
)
from sequoia.pair import Pair
from sequoia.policy import Policy
from sequoia.shaper import Fixed
from sequoia.trace import StepTrace
from sequoia.tree import Tree
from sequoia.verify import VERIFIERS, walk

GREEDY = Policy(max_new_tokens=48, ignore_eos=True)
WARM = Policy(temperature=1.0, seed=100)
BUSHY = Tree.from_branching([4, 2, 1, 1])
SIBLINGS = Tree.from_branching([3, 1])
BF16 = torch.bfloat16
PROFILE = HardwareProfile(device="a", dtype="float32", target="t", draft="d", prefix_length=1, source="simulated",
                          date="2025-01-31", target_seconds=((1, 0.01, 0),), draft_seconds=((1, 1e-5, 0),))

made = cache(tiny_pair)  # only decoded with


@cache
def few_tokens() -> Pair:
    return tiny_pair("llama", vocab=5, layers=1, noise=2.0, seed=5)  # laws far apart: a wrong one is seen


def emitted(steps: Iterable[StepTrace]) -> list[int]:
    return [token for step in steps for token in step.emitted]


def texts(pair: Pair, prompt: str, tree: Tree = BUSHY) -> tuple[list[int], list[int]]:
    return emitted(run(Decoder(pair, prompt, GREEDY, tree))), emitted(plain(pair, prompt, GREEDY))


# -- temperature 0 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other", "at"), [
    ([], [], None), ([1, 2], [1, 2], None), ([1, 2, 3], [1, 5, 3], 1), ([4], [5], 0), ([1, 2], [1, 2, 3], None), ([1], [], None)])
def test_the_first_difference_is_found_as_far_as_both_texts_go(one: list[int], other: list[int], at: int | None) -> None:
    assert compare(one, other) == compare(other, one) == at


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_in_float32_is_exact(kind: str) -> None:
    found = check_text(made(kind), PROMPTS[0], *texts(made(kind), PROMPTS[0]))
    assert (found.verdict, found.compared, found.index, found.margin) == ("exact", 48, None, None)
    assert found.sentence == "All 48 tokens are those of plain decoding, measured: exact."


def test_greedy_text_in_bfloat16_is_exact_or_a_tie() -> None:
    """Some of these texts do part, so that real ties are judged by real logits."""
    found = [check_text(pair, prompt, *texts(pair, prompt))
             for pair, prompt in itertools.product((made(kind, "bfloat16") for kind in KINDS), PROMPTS)]
    assert {match.verdict for match in found} == {"exact", "tie"}
    assert all(match.margin <= TIE_ULP and "a tie" in match.sentence for match in found if match.index is not None)


def test_a_fabricated_wrong_token_is_a_bug() -> None:
    """Any wrong token but the second best of a near tie; here every place of a text in turn gets the worst token of all."""
    pair, prompt = made(), PROMPTS[0]
    right = texts(pair, prompt)[1]
    for at in (0, 1, 20, 47):
        worst = int(reference_logits(pair, prompt, right[:at]).argmin())
        found = check_text(pair, prompt, [*right[:at], worst, *right[at + 1:]], right)
        assert (found.verdict, found.index) == ("bug", at)
        assert found.sentence.startswith(f"Token {at + 1} is the first that plain decoding has otherwise")


def test_the_second_best_token_is_a_bug_where_there_is_no_tie() -> None:
    pair, prompt = made(), PROMPTS[0]
    right = texts(pair, prompt)[1]
    second = reference_logits(pair, prompt, right[:5]).topk(2).indices[1]
    found = check_text(pair, prompt, [*right[:5], int(second)], right)
    assert found.verdict == "bug"
    assert found.margin > TIE_ULP
    assert f"more than the {TIE_ULP} of a tie" in found.sentence


def test_a_fabricated_tie_is_a_tie_up_to_the_bound() -> None:
    """The spacing of bfloat16 at 8 is 2**-4: sixteen of it are a tie, and the seventeenth makes a bug."""
    for steps, verdict in ((0, "tie"), (1, "tie"), (TIE_ULP, "tie"), (TIE_ULP + 1, "bug")):
        logits = torch.tensor([1.0, 9.5, 9.5 - steps / 16, -3.0])
        for one, other in ((1, 2), (2, 1)):
            found = judge([7, one], [7, other], logits, BF16)
            assert (found.verdict, found.margin, found.index) == (verdict, steps, 1)
        assert f"{steps} ulp of bfloat16" in found.sentence


def test_a_tie_of_two_other_tokens_excuses_nothing() -> None:
    logits = torch.tensor([9.5, 9.5, 1.0, -3.0])
    found = judge([2], [0], logits, BF16)
    assert (found.verdict, found.margin) == ("bug", 0)
    assert "the two tokens are not those two" in found.sentence
    assert judge([2], [1], torch.tensor([9.5, 9.5, 9.5, 0]), BF16).verdict == "tie"  # three alike: any two are the best


def test_the_same_margin_is_a_tie_in_a_coarse_type_only() -> None:
    logits = torch.tensor([5.0, 5.01])
    assert judge([0], [1], logits, BF16).verdict == "tie"
    assert judge([0], [1], logits, torch.float16).verdict == "tie"
    assert judge([0], [1], logits, torch.float32).verdict == "bug"


@pytest.mark.parametrize("dtype", [torch.float16, BF16, torch.float32, torch.float64])
def test_an_ulp_is_the_distance_to_the_next_number(dtype: torch.dtype) -> None:
    for value in (1.0, 1.5, 1.99, 2.0, -3.0, 7.5, 0.3, 100.0):
        here = torch.tensor(abs(value), dtype=dtype)
        beyond = torch.nextafter(here, torch.tensor(torch.inf, dtype=dtype))
        assert ulp(value, dtype) == float(beyond.double() - here.double())
    assert 0 < ulp(0.0, dtype) < torch.finfo(dtype).smallest_normal


def test_a_margin_needs_two_finite_logits_and_a_verdict_known_tokens() -> None:
    assert margin(torch.tensor([-8.5, -8.0]), BF16) == 8  # numbers from 8 on are 2**-4 apart
    for bad in ([1.0], [], [math.nan, 1.0], [math.inf, 1.0], [1.0, -math.inf]):
        with pytest.raises(BadModel, match="two finite logits"):
            margin(torch.tensor(bad), BF16)
    with pytest.raises(BadModel, match="token id: 9"):
        judge([9], [0], torch.tensor([1.0, 2.0]), BF16)


def test_the_reference_row_is_the_bare_models() -> None:
    pair, common = made("gpt2"), [3, 4, 5]
    ids = torch.tensor([[*pair.encode("abc"), *common]])
    with torch.inference_mode():
        wanted = pair.target.hf(ids).logits[0, -1].double()
    assert torch.allclose(reference_logits(pair, "abc", common), wanted, atol=1e-6)
    with pytest.raises(BadPrompt):
        reference_logits(pair, " ", common)


# -- counts and the law ----------------------------------------------------------------------------------------------------------


def counted(law: Iterable[float], counts: Iterable[int]) -> FirstTokens:
    return FirstTokens(torch.tensor([*law], dtype=torch.float64), {t: n for t, n in enumerate(counts) if n})


def test_the_p_value_is_that_of_the_table() -> None:
    """Chi-square 3.841 with one degree of freedom is 5 %, and 5.991 with two."""
    assert counted((0.5, 0.5), (5098, 4902)).p_value == pytest.approx(0.05, abs=2e-5)  # 2 * 98**2 / 5000 = 3.842
    assert counted((0.5, 0.5), (50, 50)).p_value == 1
    square = 2 * 17**2 / 100
    assert counted((1 / 3, 1 / 3, 1 / 3), (117, 83, 100)).p_value == pytest.approx(math.exp(-square / 2))


def test_it_agrees_with_the_suites_own_check() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        law = rng.dirichlet(np.full(12, 0.7))
        tokens = rng.choice(12, 300, p=law).tolist()
        ours = FirstTokens(torch.tensor(law))
        for token in tokens:
            ours = ours.add(token)
        assert ours.runs == 300
        rare = sum(300 * weight for weight in law if 300 * weight < 5)
        if rare == 0 or rare >= 5:  # a smaller pool joins another cell here
            assert ours.p_value == pytest.approx(fit(tokens, dict(enumerate(law))), rel=1e-9)


def test_under_the_law_p_values_are_even_and_peeking_finds_small_ones() -> None:
    """1,000 right decoders of 200 runs: about 1 in 20 ends below 0.05. Looking ten times, far more are below it once."""
    rng = np.random.default_rng(2)
    law, ends, ever, size = np.array([0.4, 0.3, 0.2, 0.08, 0.02]), 0, 0, 1000
    for _ in range(size):
        counts, below = np.zeros(5, int), []
        for _ in range(10):
            counts += rng.multinomial(20, law)
            below.append((counted(law, counts.tolist()).p_value or 1) < 0.05)
        ends, ever = ends + below[-1], ever + any(below)
    assert 0.01 < ends / size < 0.1
    assert ever > 2 * ends


def test_rare_tokens_are_one_cell_and_a_poor_pool_joins_another() -> None:
    """Ten tokens expected once each in 100 runs: together 10 times, and unlikely to be never seen."""
    law = [0.5, 0.4, *[0.01] * 10]
    usual, never = counted(law, (50, 40, 10)), counted(law, (56, 44))
    assert usual.p_value == 1
    assert never.p_value == pytest.approx(float(torch.special.gammaincc(torch.tensor(1.0), torch.tensor(
        (36 / 50 + 16 / 40 + 10) / 2))), rel=1e-6)
    assert counted((0.5, 0.48, 0.02), (50, 50)).p_value == 1  # 48 and 2 expected, 50 and 0 seen: one cell


def test_an_impossible_token_differs_and_too_few_say_nothing() -> None:
    assert counted((0.5, 0.5, 0.0), (5, 5, 1)).verdict == "differs"
    for few in (counted((0.5, 0.5), ()), counted((0.5, 0.5), (4, 0)), counted((1.0, 0.0), (50, 0))):
        assert (few.p_value, few.verdict) == (None, "too few")
        assert "cannot be held against" in few.sentence
    with pytest.raises(BadModel, match="token id: 2"):
        counted((0.5, 0.5), ()).add(2)


def test_adding_makes_a_new_value() -> None:
    none = counted((0.5, 0.5), ())
    one = none.add(1).add(1)
    assert (none.runs, one.runs, dict(one.counts)) == (0, 2, {1: 2})


def test_the_sentences_carry_the_numbers() -> None:
    assert counted((0.5, 0.5), (190, 210)).sentence == (
        "The first tokens of 400 runs fit the target's law: p = 0.32, measured.")
    assert "fit the target's law poorly" in counted((0.5, 0.5), (160, 240)).sentence
    bad = counted((0.5, 0.5), (100, 300))
    assert bad.sentence.startswith("The first tokens of 400 runs do not follow the target's law: p = ")
    assert bad.p_value < ALARM


# -- above temperature 0, on a pair ----------------------------------------------------------------------------------------------


def last(verifier: str, policy: Policy = WARM, tree: Tree | Callable = SIBLINGS, runs: int = 400) -> FirstTokens:
    *_, found = first_tokens(few_tokens(), "a", policy, tree, verifier, runs)
    return found


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_every_verifier_with_its_own_draw_fits_the_law(verifier: str) -> None:
    """Top-k match too: the target itself draws the token that decides. What is counted comes from drafted trees."""
    found = last(verifier, replace(WARM, max_new_tokens=1))  # a limit that would cut the tree to its root
    assert (found.verdict, found.runs) == ("fits", 400)


def test_top_p_is_part_of_the_law() -> None:
    policy = replace(WARM, top_p=0.8)
    law = first_law(few_tokens(), "a", policy)
    assert int((law > 0).sum()) == 2
    assert last("sequoia", policy).verdict == "fits"
    wrong = FirstTokens(law, last("sequoia").counts)  # the runs without top-p hold tokens that it rules out
    assert wrong.verdict == "differs"


@pytest.mark.parametrize("reject", REJECTIONS, ids=lambda reject: reject.__name__)
def test_a_mutated_verifier_differs(reject: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wrong rejection of the suite; a meter that never drafted siblings would let all of them pass."""
    monkeypatch.setitem(VERIFIERS, "mutant", replace(VERIFIERS["sequoia"], verify=partial(walk, reject=reject)))
    assert last("mutant").verdict == "differs"


@pytest.mark.parametrize(("draw", "verify"), [("specinfer", "sequoia"), ("topk", "sequoia")])
def test_a_draw_that_belongs_to_another_verifier_differs(draw: str, verify: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deterministic children of top-k match, verified as if they were drawn, are the classic mistake."""
    monkeypatch.setitem(VERIFIERS, "mutant", replace(VERIFIERS[verify], draw=VERIFIERS[draw].draw))
    assert last("mutant").verdict == "differs"


def test_trees_made_for_each_run_are_metered_too() -> None:
    """A fixed one gives the very counts of its tree; one grown with the draft fits, a new one for each run."""
    assert last("sequoia", tree=lambda: Fixed(SIBLINGS), runs=50).counts == last("sequoia", runs=50).counts
    made: list[Dynamic] = []

    def grown() -> Dynamic:
        made.append(Dynamic(Acceptance((0.6, 0.2, 0.1)), PROFILE, WARM.temperature, most=12, levels=4))
        return made[-1]

    assert last("sequoia", tree=grown).verdict == "fits"
    assert len(made) == 400


def test_the_meter_runs_in_batches_and_stops_at_any_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [found.runs for found in first_tokens(few_tokens(), "a", WARM, SIBLINGS, runs=70, batch=30)] == [30, 60, 70]
    steps = []
    real = Decoder.step
    monkeypatch.setattr(Decoder, "step", lambda decoder: steps.append(1) or real(decoder))
    counting = first_tokens(few_tokens(), "a", WARM, SIBLINGS, runs=10_000, batch=5)
    assert next(counting).runs == 5
    counting.close()
    assert len(steps) == 5
    assert next(counting, None) is None


def test_seeds_count_up_from_the_policys() -> None:
    """So that another seed makes other runs, and two halves are the whole."""
    whole = last("sequoia", runs=60)
    halves = [last("sequoia", replace(WARM, seed=seed), runs=30) for seed in (100, 130)]
    assert dict(whole.counts) == {
        t: sum(half.counts.get(t, 0) for half in halves) for t in whole.counts}
    assert halves[0].counts != halves[1].counts


def test_requests_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadPolicy, match="no law to fit"):
        last("sequoia", GREEDY)
    with pytest.raises(BadPolicy, match="runs: 0"):
        last("sequoia", runs=0)
    with pytest.raises(BadPolicy, match="unknown verifier"):
        last("magic")
    with pytest.raises(BadPrompt):
        next(first_tokens(few_tokens(), "", WARM, SIBLINGS))


def test_some_mutants_need_more_than_two_hundred_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meter has limited sight, and says "fits" until the counts show it: why the number of runs is on the page."""
    monkeypatch.setitem(VERIFIERS, "mutant", replace(VERIFIERS["sequoia"], verify=partial(
        walk, reject=residual_without_the_token_only)))
    values = [found.verdict for found in first_tokens(few_tokens(), "a", WARM, SIBLINGS, "mutant", runs=400, batch=50)]
    assert values[0] == "fits"
    assert values[-1] == "differs"
