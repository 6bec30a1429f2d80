"""Acceptance the cheap way: p against q at every position of a text, teacher-forced. No tree is
run.

At each position one row of siblings is drawn as decoding draws it and goes through the very
`verify` that decodes; only the coins are not tossed: their chances are kept. So what is drawn at
random is the siblings, and a position adds the exact chance of every rank given them. The mean over
draws is the law of `walk` itself (tests/test_teacher.py adds it up in fractions).

What it assumes: that every position of the text weighs the same. Counting on-policy with a
tree of two levels weighs them a little otherwise, as the position behind an accepted child is
never a root there. And a text that the target did not write itself shows contexts which
decoding would hardly meet.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling import Chance, chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import repetition
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verify import VERIFIERS
from sequoia.decoding.engine import plain
from sequoia.errors import BadPrompt, BadTree
from sequoia.measuring.acceptance import CountedAcceptance
from sequoia.measuring.acceptance_by_level import AcceptanceByLevel, Cell
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import TreeLayout
from sequoia.validate_input import whole

LATEST = 256  # tokens of a text that are looked at for its kind
BLOCK = 64  # positions read at once; their laws are held in memory together
_SEQUOIA = VERIFIERS["sequoia"]


def force_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    *,
    ranks: int = 16,
    own: bool = True,
    progress: Progress = lambda _: None,
) -> CountedAcceptance:
    """Expected counts by rank over the positions of texts, for nodes with `ranks` children.

    own: the texts are the target's own continuations of `prompts`, `params.max_new_tokens` tokens
    each, by plain decoding under `params`; otherwise they are `prompts` as they stand, read once.
    Raises BadPrompt, BadTree or BadModel.
    """
    prompts = list(prompts)
    if not prompts:
        raise BadPrompt(
            "acceptance is measured over texts: 0 prompts were given, at least 1 is needed"
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
    """Chances that child 1, 2, ... is the one accepted at a node with laws p and q, (vocab,) each,
    whose children carry `tokens`.

    They exclude each other; floats or fractions, as p is. tree: the root with its children,
    where it is at hand.
    """
    tree = tree or Tree.from_branching([len(tokens)])
    verdict = _SEQUOIA.verify(tree, (-1, *tokens), lambda _: p, lambda _: q, _UNSURE)
    reach = 1
    rates = []
    for trial in verdict.trials:
        share = 1 if trial.accepted else trial.p / trial.q if trial.q > 0 else 0
        rates.append(reach * share)
        reach *= 1 - share
    return rates + [0] * (len(tokens) - len(rates))


def agreement(pair: Pair, texts: Iterable[str]) -> float:
    """The share of its law that the target has in common with the draft at temperature 1, from 0 to
    1: the mean of `shared_mass`."""
    return float(shared_mass(pair, texts).mean())


def shared_mass(pair: Pair, texts: Iterable[str]) -> torch.Tensor:
    """(positions,) sum(min(p, q)) at temperature 1 after every token of `texts`, of each text its
    last `LATEST` tokens. One pass of each model a text. Raises BadPrompt without any text."""
    shared = list[torch.Tensor]()
    warm = SamplingParams(temperature=1.0)
    for text in texts:
        ids = pair.encode(text)[-LATEST:]
        for target, draft in zip(
            _logits(pair.target, ids, 1), _logits(pair.draft, ids, 1), strict=True
        ):
            p = target_rows(target, warm).cpu()
            q = draft_rows(draft, warm).cpu()
            shared.append(torch.minimum(p, q).sum(-1))  # (positions,)
    if not shared:
        raise BadPrompt("agreement is measured over texts: 0 were given, at least 1 is needed")
    return torch.cat(shared)


class _Unsure:
    """Answers `verify` with a rejection wherever one is possible, so that every sibling with a
    chance gets its trial."""

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        return bool(r > 0 and r >= d), None  # u * d < r holds for every u in [0, 1)

    def pick(self, weights: Any) -> int:
        return int(np.argmax(weights))


_UNSURE: Any = _Unsure()  # the two draws of a Chance are none of verify's


def _text(
    pair: Pair, prompt: str, params: SamplingParams, own: bool, progress: Progress
) -> tuple[tuple[int, ...], int]:
    """Token ids, and the length of the shortest context in question; the longest is all of them."""
    ids = pair.encode(prompt)
    if not own:
        return ids, 1
    steps = with_progress(plain(pair, prompt, params), params.max_new_tokens, progress)
    made = [token for step in steps for token in step.emitted]
    return (*ids, *made[:-1]), len(ids)  # nothing was drawn after the last token


def _positions(
    pair: Pair, text: Sequence[int], first: int, params: SamplingParams, tree: Tree, chance: Chance
) -> Iterator[list[float]]:
    """Rates by rank after text[:first], text[:first + 1], ... and the whole text."""
    ranks = len(tree) - 1
    for target, draft in zip(
        _logits(pair.target, text, first), _logits(pair.draft, text, first), strict=True
    ):
        q = draft_rows(draft, params)  # (positions, vocab), as p
        drawn = _SEQUOIA.draw(chance, q, [ranks] * len(q))
        p = target_rows(target, params).cpu().numpy()
        q = q.cpu().numpy()
        yield from (sibling_rates(p[row], q[row], tokens, tree) for row, tokens in enumerate(drawn))


def _logits(model: TreeModel, text: Sequence[int], first: int) -> Iterator[torch.Tensor]:
    """(positions, vocab) logits after text[:first], text[:first + 1], ..., at most BLOCK at
    once."""
    context = model.open(len(text))
    if first > 1:
        context.extend(text[: first - 1])
    rest = text[first - 1 :]
    rows = TreeLayout(Tree.chain(min(BLOCK, len(rest))), range(min(BLOCK, len(rest))), context)
    for start in range(0, len(rest), BLOCK):
        block = rest[start : start + BLOCK]
        yield context.forward(block, rows)
        context.keep(range(len(block)))
