"""Losslessness at temperature 0: what must pass and what must be caught, with tiny pairs and
synthetic logits."""

from __future__ import annotations

import itertools
import math
from functools import cache

import pytest
import torch
from decoded import emitted
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.errors import BadModel, BadPrompt
from sequoia.exactness import same_tokens
from sequoia.exactness.same_tokens import (
    ROWS_AT_ONCE,
    Place,
    check_text,
    compare,
    place,
    places,
    reference_logits,
    reference_rows,
)
from sequoia.models.pair import Pair

GREEDY = SamplingParams(max_new_tokens=48, ignore_eos=True)
BUSHY = Tree.from_branching([4, 2, 1, 1])

made = cache(tiny_pair)  # tests can share pairs, because no test changes them


def texts(pair: Pair, prompt: str, tree: Tree = BUSHY) -> tuple[list[int], list[int]]:
    return emitted(run(Decoder(pair, prompt, GREEDY, tree))), emitted(plain(pair, prompt, GREEDY))


def test_the_first_difference_is_found_within_the_shorter_text() -> None:
    for one, other, at in (([1, 2, 3], [1, 5, 3], 1), ([1, 2], [1, 2, 3], None), ([], [1], None)):
        assert compare(one, other) == compare(other, one) == at


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_the_second_best_token_is_a_tie_only_if_rounding_explains_it(dtype: str) -> None:
    """Rounding makes a token differ where the logits are close in float32. The bound is that of the
    dtype: in float32 (compared with float64), no token of these texts is a tie."""
    pair = made(dtype=dtype)
    prompt = PROMPTS[0]
    right = texts(pair, prompt)[1]
    verdicts = []
    for at in range(len(right)):
        second = int(reference_logits(pair, prompt, right[:at]).topk(2).indices[1])
        if second != right[at]:
            match = check_text(pair, prompt, [*right[:at], second], right)
            assert (match.verdict == "tie") == (match.first.margin <= 2 * match.first.error)
            verdicts.append(match.verdict)
    assert ("tie" in verdicts) == (dtype != "float32")
    assert verdicts.count("bug") > len(right) / 2


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
        assert (found.verdict, found.index, found.later.index) == ("bug", at, later)
        assert found.first.is_tie


def near_tie(pair: Pair, prompt: str, right: list[int]) -> tuple[int, int]:
    """The index of the first near tie in `right`, and the second best token there. It is a tie by a
    wide margin, because a pass over a longer text rounds differently. The last ten tokens of
    `right` are not searched."""
    for at in range(len(right) - 10):
        second = int(reference_logits(pair, prompt, right[:at]).topk(2).indices[1])
        match = check_text(pair, prompt, [*right[:at], second], right)
        if match.first and match.first.margin < match.first.error:
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


def test_without_memory_for_the_reference_passes_the_verdict_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_room(*_: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(same_tokens, "last_own_logits", no_room)
    found = check_text(made(), PROMPTS[0], [1, 2], [1, 3])
    assert (found.verdict, found.index, found.first) == ("undecided", 1, None)
    assert found.problem == "there is not enough memory"


def test_the_error_of_a_wrong_pass_excuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounding error comes from the bare model, so a wrong pass of ours cannot make it larger.
    Here all our passes are wrong, also those of plain decoding."""
    pair = made(dtype="bfloat16")
    prompt = PROMPTS[0]
    right = texts(pair, prompt)[1]
    expected = [*places(pair, prompt, right, right, 0)]
    monkeypatch.setattr(pair.target, "forward", lambda *_: pytest.fail("our own pass was used"))
    assert [*places(pair, prompt, right, right, 0)] == expected


EXACT = torch.tensor([-5.0, -4.0, -3.0, 1.0, 9.0, 9.5], dtype=torch.float64)


def rounded(*changes: float) -> torch.Tensor:
    return EXACT + torch.tensor(changes, dtype=torch.float64)


@pytest.mark.parametrize(("error", "is_tie"), [(0.0, False), (0.125, False), (0.25, True)])
def test_a_margin_of_up_to_twice_the_error_is_a_tie(error: float, is_tie: bool) -> None:
    for changes in ((0, 0, 0, 0, 0, error), (0, 0, 0, -error, 0, 0)):
        found = place(7, [4, 5], rounded(*changes), EXACT)
        assert found == Place(7, 0.5, error)
        assert found.is_tie == is_tie


def test_the_token_further_below_the_best_counts_and_not_its_rank() -> None:
    for tokens in itertools.permutations((3, 4, 5), 2):
        found = place(0, tokens, rounded(0, 0, 0, 0, 0, 0.3), EXACT)
        assert found.margin == 9.5 - EXACT[min(tokens)]
        assert found.is_tie == (min(tokens) == 4)


def test_tokens_that_cannot_be_the_best_do_not_count_for_the_error() -> None:
    """Some models set the logits of tokens they never emit to -inf, or to the lowest number of
    their dtype."""
    exact = torch.tensor([-math.inf, -3.4e38, 1.0, 2.0, 9.0, 9.5], dtype=torch.float64)
    half = torch.tensor([-math.inf, -65504.0, 1.0, 2.0, 9.0, 9.4], dtype=torch.float64)
    assert place(0, [4], half, exact).error == pytest.approx(0.1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_logits_that_are_not_finite_and_invalid_tokens_are_refused(bad: float) -> None:
    damaged = EXACT.clone()
    damaged[4] = bad
    for one, other in ((damaged, EXACT), (EXACT, damaged)):
        with pytest.raises(BadModel, match="finite logits"):
            place(0, [4], one, other)
    for unknown in (6, -1):
        with pytest.raises(BadModel, match="token id"):
            place(0, [unknown], EXACT, EXACT)


def test_the_reference_row_equals_the_output_of_the_bare_model() -> None:
    pair = made("gpt2")
    common = [3, 4, 5]
    ids = torch.tensor([[*pair.encode("abc"), *common]])
    with torch.inference_mode():
        expected = pair.target.hf(ids).logits[0, -1].double()
    assert torch.allclose(reference_logits(pair, "abc", common), expected, atol=1e-6)
    with pytest.raises(BadPrompt):
        reference_logits(pair, " ", common)
