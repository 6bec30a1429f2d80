"""Teacher-forced acceptance: p and q are compared at every position of a text, without decoding a
tree.

At each position, siblings are drawn exactly as in decoding and passed to the same `verify`. Instead
of tossing a coin for each trial, its acceptance probability is recorded. So only the siblings are
random: given the siblings, each position adds the exact acceptance probability of each rank. The
mean over draws equals the acceptance rates of `walk`
(tests/measuring/test_acceptance_teacher_forced.py checks this in exact fractions).

Assumption: all positions of the text weigh the same. Counting on-policy with a tree of two levels
weighs them slightly differently, because the position after an accepted child is never a root
there. And a text that the target did not generate contains contexts that decoding would seldom
reach.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.expected_accepted import REJECTING
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling import Chance, chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens, repetition
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.decoding.engine import plain
from sequoia.errors import BadPrompt, BadTree
from sequoia.measuring.acceptance import CountedAcceptance
from sequoia.measuring.acceptance_by_level import AcceptanceByLevel, Cell
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.validate_input import whole

LATEST = 256  # `agreement` looks only at the last 256 tokens of each text
BLOCK = 64  # positions a pass; their distributions are in memory together


def teacher_forced_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    *,
    ranks: int = 16,
    own: bool = True,
    progress: Progress = lambda _: None,
) -> CountedAcceptance:
    """Expected number of acceptances of each child rank, summed over all positions, if every node
    has `ranks` children.

    own: the texts are the target's own continuations of `prompts`, `params.max_new_tokens` tokens
    each, by plain decoding under `params`; otherwise they are `prompts` themselves, in one pass of
    each model. Raises BadPrompt, BadTree or BadModel.
    """
    prompts = list(prompts)
    if not prompts:
        raise BadPrompt(
            "acceptance is measured over texts; 0 prompts were given, at least 1 is needed"
        )
    tree = Tree.from_branching([whole(ranks, "ranks", 1, min(pair.draft.vocab, 1023), BadTree)])
    totals = np.zeros(ranks)
    positions = 0
    repeated = []
    for done, prompt in enumerate(prompts):
        mine = params.further(done)
        prompt_progress = progress_of_part(progress, done, len(prompts))
        text, first = _text(pair, prompt, mine, own, progress_of_part(prompt_progress, 0, 2))
        chance = chance_for(mine.temperature, mine.seed, pair.draft.device)
        for number, rates in enumerate(_positions(pair, text, first, params, tree, chance), 1):
            totals += rates
            positions += 1
            progress_of_part(prompt_progress, 1, 2)(number / (len(text) - first + 1))
        repeated.append(repetition(text[first - 1 :]))
    accepted = tuple(totals.tolist())
    cells = {(0, rank): Cell(positions, count) for rank, count in enumerate(accepted)}
    return CountedAcceptance(
        accepted, positions, statistics.fmean(repeated), AcceptanceByLevel(cells)
    )


def sibling_rates(
    p: np.ndarray, q: np.ndarray, tokens: Sequence[int], tree: Tree | None = None
) -> list[Any]:
    """Probabilities that child 1, 2, ... is the accepted one, at a node with distributions p and q,
    (vocab,) each, whose children carry `tokens`.

    At most one child is accepted, so they sum to at most 1. Floats or fractions, as p is. tree: the
    root with its children; built here if not given.
    """
    tree = tree or Tree.from_branching([len(tokens)])
    verdict = SEQUOIA.verify(tree, (-1, *tokens), lambda _: p, lambda _: q, REJECTING)
    reach = 1
    rates = []
    for trial in verdict.trials:
        share = 1 if trial.accepted else trial.p / trial.q if trial.q > 0 else 0
        rates.append(reach * share)
        reach *= 1 - share
    return rates + [0] * (len(tokens) - len(rates))


def agreement(pair: Pair, texts: Iterable[str]) -> float:
    """The probability mass that target and draft share at temperature 1, from 0 to 1: the mean of
    `shared_mass`."""
    return float(shared_mass(pair, texts).mean())


def shared_mass(pair: Pair, texts: Iterable[str]) -> torch.Tensor:
    """(positions,) sum(min(p, q)) at temperature 1 after each of the last `LATEST` tokens of every
    text. Raises BadPrompt without any text."""
    shared = list[torch.Tensor]()
    at_temperature_1 = SamplingParams(temperature=1.0)
    for text in texts:
        ids = pair.encode(text)[-LATEST:]
        for target, draft in zip(
            logits_along(pair.target, ids, 1), logits_along(pair.draft, ids, 1), strict=True
        ):
            p = target_rows(target, at_temperature_1).cpu()
            q = draft_rows(draft, at_temperature_1).cpu()
            shared.append(torch.minimum(p, q).sum(-1))  # (positions,)
    if not shared:
        raise BadPrompt("agreement is measured over texts; 0 were given, at least 1 is needed")
    return torch.cat(shared)


def _text(
    pair: Pair, prompt: str, params: SamplingParams, own: bool, progress: Progress
) -> tuple[tuple[int, ...], int]:
    """Token ids, and the length of the first context to measure at. The last context is the whole
    sequence."""
    ids = pair.encode(prompt)
    if not own:
        return ids, 1
    steps = with_progress(plain(pair, prompt, params), params.max_new_tokens, progress)
    made = emitted_tokens(steps)
    return (*ids, *made[:-1]), len(ids)  # no token was drawn after the last one


def _positions(
    pair: Pair, text: Sequence[int], first: int, params: SamplingParams, tree: Tree, chance: Chance
) -> Iterator[list[float]]:
    """Rates by rank after text[:first], text[:first + 1], ... and the whole text."""
    ranks = len(tree) - 1
    for target, draft in zip(
        logits_along(pair.target, text, first), logits_along(pair.draft, text, first), strict=True
    ):
        q = draft_rows(draft, params)  # (positions, vocab), as p
        drawn = SEQUOIA.draw(chance, q, [ranks] * len(q))
        p = target_rows(target, params).cpu().numpy()
        q = q.cpu().numpy()
        yield from (sibling_rates(p[row], q[row], tokens, tree) for row, tokens in enumerate(drawn))


def logits_along(model: TreeModel, text: Sequence[int], first: int) -> Iterator[torch.Tensor]:
    """(positions, vocab) logits after text[:first], text[:first + 1], ..., at most BLOCK at
    once."""
    context = model.open(len(text))
    if first > 1:
        context.extend(text[: first - 1])
    rest = text[first - 1 :]
    rows = whole_tree_layout(context, Tree.chain(min(BLOCK, len(rest))))
    for start in range(0, len(rest), BLOCK):
        block = rest[start : start + BLOCK]
        yield context.forward(block, rows)
        context.keep(range(len(block)))
