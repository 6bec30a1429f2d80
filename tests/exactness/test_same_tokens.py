"""Losslessness at temperature 0: what must pass and what must be caught, with tiny pairs and
synthetic logits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import cache

import pytest
import torch
from fakes import KINDS, PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.errors import BadModel, BadPrompt
from sequoia.exactness.same_tokens import (
    ROWS_AT_ONCE,
    TIE_ULP,
    check_text,
    compare,
    judge,
    margin,
    reference_logits,
    reference_rows,
    ulp,
)
from sequoia.models.pair import Pair

GREEDY = SamplingParams(max_new_tokens=48, ignore_eos=True)
BUSHY = Tree.from_branching([4, 2, 1, 1])
BF16 = torch.bfloat16

made = cache(tiny_pair)  # tests can share pairs, because no test changes them


def emitted(steps: Iterable[StepTrace]) -> list[int]:
    return [token for step in steps for token in step.emitted]


def texts(pair: Pair, prompt: str, tree: Tree = BUSHY) -> tuple[list[int], list[int]]:
    return emitted(run(Decoder(pair, prompt, GREEDY, tree))), emitted(plain(pair, prompt, GREEDY))


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        ([], [], None),
        ([1, 2], [1, 2], None),
        ([1, 2, 3], [1, 5, 3], 1),
        ([4], [5], 0),
        ([1, 2], [1, 2, 3], None),
        ([1], [], None),
    ],
)
def test_the_first_difference_is_found_within_the_shorter_text(
    one: list[int], other: list[int], at: int | None
) -> None:
    assert compare(one, other) == compare(other, one) == at


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_in_float32_is_exact(kind: str) -> None:
    found = check_text(made(kind), PROMPTS[0], *texts(made(kind), PROMPTS[0]))
    assert (found.verdict, found.compared, found.index, found.margin) == ("exact", 48, None, None)
    assert found.sentence == "All 48 tokens equal plain decoding's (measured): exact."


@pytest.mark.nightly
@pytest.mark.slow
def test_greedy_text_in_bfloat16_is_exact_or_a_tie() -> None:
    """Whether any text differs depends on the processor."""
    for pair, prompt in itertools.product((made(kind, "bfloat16") for kind in KINDS), PROMPTS):
        match = check_text(pair, prompt, *texts(pair, prompt))
        assert match.verdict in ("exact", "tie")
        assert match.index is None or (match.margin <= TIE_ULP and "a tie" in match.sentence)


@pytest.mark.slow
def test_a_near_tie_of_real_logits_is_a_tie() -> None:
    """At each place where a text in bfloat16 has the target's best token, the text is cut off and
    the second best token appended. That is a tie if the two logits are close, else a bug."""
    pair = made(dtype="bfloat16")
    found = dict[str, int]()
    for prompt in PROMPTS:
        right = texts(pair, prompt)[1]
        for at in range(len(right)):
            logits = reference_logits(pair, prompt, right[:at])
            best, second = logits.topk(2).indices.tolist()
            if best == right[at]:
                match = check_text(pair, prompt, [*right[:at], second], right)
                gap = margin(logits, (best, second), BF16)
                assert match.verdict == ("tie" if gap <= TIE_ULP else "bug")
                found[match.verdict] = found.get(match.verdict, 0) + 1
    assert min(found["tie"], found["bug"]) > 3


def test_the_text_after_a_tie_is_compared_with_the_target() -> None:
    """At a near tie, a run may take the second best token. Each later token is then compared with
    the target's best token after the run's own text. A later token far below the best is a bug."""
    pair = made(dtype="bfloat16")
    prompt = PROMPTS[0]
    right = texts(pair, prompt)[1]
    at, other = near_tie(pair, prompt, right)
    run = [*right[:at], other]
    while len(run) < len(right):
        run.append(int(reference_logits(pair, prompt, run).argmax()))
    found = check_text(pair, prompt, run, right)
    assert (found.verdict, found.index, found.later) == ("tie", at, None)
    for later in (at + 1, len(right) - 1):
        worst = int(reference_logits(pair, prompt, run[:later]).argmin())
        found = check_text(pair, prompt, [*run[:later], worst, *run[later + 1 :]], right)
        assert (found.verdict, found.index, found.later[0]) == ("bug", at, later)
        assert found.margin <= TIE_ULP < found.later[1]
        assert f"its token {later + 1} is {found.later[1]:.3g} ulp below" in found.sentence


def near_tie(pair: Pair, prompt: str, right: list[int]) -> tuple[int, int]:
    """The index of the first near tie in `right`, and the second best token there. The last ten
    tokens of `right` are not searched."""
    for at in range(len(right) - 10):
        logits = reference_logits(pair, prompt, right[:at])
        best, second = logits.topk(2).indices.tolist()
        if best == right[at] and margin(logits, (best, second), BF16) <= TIE_ULP:
            return at, second
    raise AssertionError("this text has no near tie")


def test_the_rows_of_a_text_equal_those_computed_one_by_one() -> None:
    """The rows of this text do not fit into one batch of ROWS_AT_ONCE."""
    pair = made()
    text = [(7 * i) % 200 for i in range(ROWS_AT_ONCE + 5)]
    rows = dict(reference_rows(pair, PROMPTS[0], text, 3))
    assert [*rows] == [*range(3, len(text))]
    for at in (3, ROWS_AT_ONCE + 2, ROWS_AT_ONCE + 3, len(text) - 1):
        expected = reference_logits(pair, PROMPTS[0], text[:at])
        assert torch.allclose(rows[at], expected, atol=1e-4)


def test_a_fabricated_wrong_token_is_a_bug() -> None:
    """One token of a text, at several places in turn, is replaced by the least probable one."""
    pair = made()
    prompt = PROMPTS[0]
    right = texts(pair, prompt)[1]
    for at in (0, 1, 20, 47):
        worst = int(reference_logits(pair, prompt, right[:at]).argmin())
        found = check_text(pair, prompt, [*right[:at], worst, *right[at + 1 :]], right)
        assert (found.verdict, found.index) == ("bug", at)
        assert found.sentence.startswith(
            f"Token {at + 1} is the first that differs from plain decoding"
        )


def test_the_second_best_token_is_a_bug_where_there_is_no_tie() -> None:
    pair = made()
    prompt = PROMPTS[0]
    right = texts(pair, prompt)[1]
    second = reference_logits(pair, prompt, right[:5]).topk(2).indices[1]
    found = check_text(pair, prompt, [*right[:5], int(second)], right)
    assert found.verdict == "bug"
    assert found.margin > TIE_ULP
    assert f"more than the {TIE_ULP} ulp of a tie" in found.sentence


def test_a_fabricated_tie_is_a_tie_up_to_the_bound() -> None:
    """From 8 to 16, bfloat16 numbers are 2**-4 apart. A gap of 16 such steps is a tie, one of 17 a
    bug."""
    for steps, verdict in ((0, "tie"), (1, "tie"), (TIE_ULP, "tie"), (TIE_ULP + 1, "bug")):
        logits = torch.tensor([1.0, 9.5, 9.5 - steps / 16, -3.0])
        for one, other in ((1, 2), (2, 1)):
            found = judge([7, one], [7, other], logits, BF16)
            assert (found.verdict, found.margin, found.index) == (verdict, steps, 1)
        assert f"{steps} ulp of bfloat16" in found.sentence


def test_a_near_tie_of_three_is_a_tie_for_any_two_of_them() -> None:
    """If only the two best tokens could tie, the third would be a bug, although rounding can make
    the third the best."""
    logits = torch.tensor([9.5, 9.5 - 3 / 16, 9.5 - TIE_ULP / 16, 1.0])
    for one, other in itertools.permutations(range(3), 2):
        found = judge([one], [other], logits, BF16)
        assert (found.verdict, found.margin) == ("tie", {1: 3, 2: TIE_ULP}[max(one, other)])
    assert judge([3], [2], logits, BF16).verdict == "bug"


def test_a_tie_of_two_other_tokens_excuses_nothing() -> None:
    logits = torch.tensor([9.5, 9.5, 1.0, -3.0])
    found = judge([2], [0], logits, BF16)
    assert (found.verdict, found.margin) == ("bug", 8.5 * 16)
    assert "136 ulp of bfloat16 below the target's best" in found.sentence


def test_two_tokens_near_each_other_and_far_from_the_best_are_a_bug() -> None:
    logits = torch.tensor([9.5, 4.0, 4.0])
    assert judge([1], [2], logits, BF16).verdict == "bug"


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


def test_logits_that_are_not_finite_and_invalid_tokens_are_refused() -> None:
    # bfloat16 numbers from 8 to 16 are 2**-4 apart
    assert margin(torch.tensor([-8.5, -8.0]), (0, 1), BF16) == 8
    for bad in ([math.nan, 1.0], [math.inf, 1.0], [1.0, -math.inf], [1.0, 2.0, math.nan]):
        with pytest.raises(BadModel, match="finite logits"):
            margin(torch.tensor(bad), (0, 1), BF16)
    # tokens that are not compared may have a logit of -inf
    assert margin(torch.tensor([1.0, 1.0, -math.inf]), (0, 1), BF16) == 0
    for unknown in ([9], [-1]):
        with pytest.raises(BadModel, match="token id"):
            judge(unknown, [0], torch.tensor([1.0, 2.0]), BF16)


def test_the_reference_row_equals_the_output_of_the_bare_model() -> None:
    pair = made("gpt2")
    common = [3, 4, 5]
    ids = torch.tensor([[*pair.encode("abc"), *common]])
    with torch.inference_mode():
        expected = pair.target.hf(ids).logits[0, -1].double()
    assert torch.allclose(reference_logits(pair, "abc", common), expected, atol=1e-6)
    with pytest.raises(BadPrompt):
        reference_logits(pair, " ", common)
