"""The objective that teaches a target not to repeat a passage endlessly."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from sequoia.pretrain.loops import FACTOR, Repetitions, ending_loops, fading, repetitions
from sequoia.pretrain.model import Forward, next_token
from sequoia.pretrain.stage import Stage

WIDTH = 65
VOCAB = 11


def windows(rows: int) -> torch.Tensor:
    return torch.randint(0, VOCAB, (rows, WIDTH), generator=torch.Generator().manual_seed(3))


def scores_of(rows: torch.Tensor, probability: Callable[[int, int], float]) -> torch.Tensor:
    """Logits for which the token at each place after the first has the probability
    `probability(row, place)`."""
    scores = torch.zeros(len(rows), WIDTH - 1, VOCAB, dtype=torch.float64)
    for row, tokens in enumerate(rows.tolist()):
        for place in range(1, WIDTH):
            share = probability(row, place)
            scores[row, place - 1] = math.log((1 - share) / (VOCAB - 1))
            scores[row, place - 1, tokens[place]] = math.log(share)
    return scores.requires_grad_(True)


def falling(found: Repetitions, factor: float) -> Callable[[int, int], float]:
    """Probabilities that are multiplied by `factor` with each repetition."""

    def probability(row: int, place: int) -> float:
        since = max(0, place - int(found.starts[row]))
        return 0.8 * factor ** (since // int(found.periods[row]))

    return probability


class Bigrams:
    """A network whose logits depend only on the last token. seen: the rows that it was given."""

    def __init__(self) -> None:
        self.table = torch.randn(VOCAB, VOCAB, generator=torch.Generator().manual_seed(0))
        self.seen = torch.empty(0)

    def __call__(self, input_ids: torch.Tensor, use_cache: bool) -> SimpleNamespace:
        self.seen = input_ids
        return SimpleNamespace(logits=self.table[input_ids])


def test_the_passage_of_a_row_is_repeated_until_its_end() -> None:
    rows = windows(40)
    found = repetitions(rows)
    for before, after, start, period in zip(*(rows, *found), strict=True):
        first = int(start) + int(period)
        assert 4 <= period <= WIDTH // 4
        assert 0 <= start < WIDTH // 4
        assert torch.equal(after[:first], before[:first])
        assert torch.equal(after[first:], after[int(start) : -int(period)])
    assert len(set(found.starts.flatten().tolist())) > 5
    assert len(set(found.periods.flatten().tolist())) > 5


def test_the_same_row_gives_the_same_repetition_in_any_batch() -> None:
    rows = windows(8)
    alone = repetitions(rows[5:6])
    for mine, all_ in zip(alone, repetitions(rows), strict=True):
        assert torch.equal(mine[0], all_[5])


def test_the_loss_is_zero_if_each_repetition_is_less_probable_by_the_factor() -> None:
    found = repetitions(windows(4))
    losses = {
        factor: fading(found, scores_of(found.rows, falling(found, factor))).item()
        for factor in (0.3, FACTOR, 0.7, 1.0)
    }
    assert losses[FACTOR] == pytest.approx(0, abs=1e-9)
    assert 0 < losses[0.7] < losses[1.0]
    assert losses[0.3] > 0


def test_only_repeated_tokens_have_a_gradient() -> None:
    found = repetitions(windows(4))
    scores = scores_of(found.rows, falling(found, 0.9))
    fading(found, scores).backward()
    assert scores.grad is not None
    has_gradient = scores.grad.abs().sum(-1) > 1e-12
    places = torch.arange(1, WIDTH)[None]
    assert torch.equal(has_gradient, places >= found.starts + found.periods)


def test_a_gradient_step_makes_a_repetition_less_probable() -> None:
    found = repetitions(windows(4))
    scores = scores_of(found.rows, falling(found, 1.0))
    fading(found, scores).backward()
    assert scores.grad is not None
    # a step goes against the gradient, so it lowers these logits or leaves them unchanged
    assert (scores.grad.gather(-1, found.rows[:, 1:, None]) >= 0).all()


def test_a_quarter_of_the_rows_get_repetitions_and_the_others_count_as_usual() -> None:
    rows = windows(8)
    network = Bigrams()
    loss = ending_loops(0.0)(network, rows)
    assert torch.equal(network.seen[:2], repetitions(rows[:2]).rows[:, :-1])
    assert torch.equal(network.seen[2:], rows[2:, :-1])
    assert loss.item() == pytest.approx(next_token(network, rows[2:]).item(), rel=1e-5)


def test_the_loss_of_repetitions_is_added_with_its_weight() -> None:
    rows = windows(8)
    network: Forward = Bigrams()
    found = repetitions(rows[:2])
    repeated = fading(found, network(input_ids=found.rows[:, :-1], use_cache=False).logits)
    wanted = next_token(network, rows[2:]) + 0.5 * repeated
    assert ending_loops(0.5)(network, rows).item() == pytest.approx(wanted.item(), rel=1e-4)


def test_with_fewer_than_four_rows_only_the_next_token_counts() -> None:
    rows = windows(3)
    network = Bigrams()
    assert torch.equal(ending_loops(1.0)(network, rows), next_token(network, rows))


def test_a_token_that_becomes_certain_cannot_make_the_loss_infinite() -> None:
    found = repetitions(windows(2))
    is_repeated = torch.arange(1, WIDTH)[None] >= found.starts + found.periods
    scores = torch.zeros(2, WIDTH - 1, VOCAB)
    chosen = torch.where(is_repeated, 1e4, -1e4)[..., None]
    scores.scatter_(-1, found.rows[:, 1:, None], chosen)
    loss = fading(found, scores).item()
    assert 1 < loss < math.inf


def test_the_objective_is_used_only_while_the_learning_rate_decays() -> None:
    """Before the decay, the target's objective is next-token prediction."""
    rows = windows(8)
    network = Bigrams()
    for is_decay, objective in ((False, next_token), (True, ending_loops(2.0))):
        stage: Any = SimpleNamespace(teacher=None, is_decay=is_decay, loops_weight=2.0)
        found = Stage.objective(stage, compile_=False)(network, rows)
        assert torch.equal(found, objective(network, rows))
