"""Teacher-forced acceptance: the target's distribution p and the draft's distribution q are
compared at every position of a text, without decoding a tree.

At each position, siblings are drawn exactly as in decoding. Decoding would then draw random numbers
to accept or reject them. Here each child's probability of being accepted is added up instead, so
only the siblings are random.

All positions of the text have the same weight here. Decoding with a tree of two levels counts only
at roots. Each step ends with a token from the target, which is the next root. So the position after
an accepted child is never counted. A text that the target did not generate contains contexts that
decoding would seldom reach.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling import Chance, chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens, repetition
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.decoding.engine import plain
from sequoia.errors import BadTree
from sequoia.measuring.counted_acceptance import AcceptanceByLevel, CountedAcceptance, Counts
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.draft import Draft
from sequoia.models.pair import Pair
from sequoia.validate_input import whole

LATEST = 256  # `agreement` and `shared_mass` look only at the last 256 tokens of each text
BLOCK = 64  # positions per pass, whose distributions must fit in memory together


def teacher_forced_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    *,
    ranks: int = 16,
    own: bool = True,
    progress: Progress = lambda _: None,
) -> CountedAcceptance:
    """For each child rank, the expected number of acceptances summed over all positions, if every
    node has `ranks` children.

    own: True measures along the target's own continuations of `prompts`, decoded under `params`
    without a tree. False measures along `prompts` themselves. Raises BadPrompt, BadTree, BadModel
    or OutOfMemory.
    """
    prompts = list(prompts)
    totals = np.zeros(whole(ranks, "ranks", 1, min(pair.draft.vocab, MAX_NODES - 1), BadTree))
    positions = 0
    repeated = []
    for done, prompt in enumerate(prompts):
        mine = params.further(done)
        prompt_progress = progress_of_part(progress, done, len(prompts))
        decoding = progress_of_part(prompt_progress, 0, 2)
        before, text, judged = _text(pair, prompt, mine, own, decoding)
        chance = chance_for(mine.temperature, mine.seed, pair.draft.device)
        for number, place in enumerate(text_places(pair, before, text, mine), 1):
            totals += place.chances(SEQUOIA, ranks, chance)
            progress_of_part(prompt_progress, 1, 2)(number / len(text))
        positions += len(text)
        repeated.append(repetition(judged))
    accepted = tuple(totals.tolist())
    cells = {(0, rank): Counts(positions, count) for rank, count in enumerate(accepted)}
    return CountedAcceptance(
        accepted, positions, statistics.fmean(repeated), AcceptanceByLevel(cells)
    )


def _text(
    pair: Pair, prompt: str, params: SamplingParams, own: bool, progress: Progress
) -> tuple[tuple[int, ...], Sequence[int], Sequence[int]]:
    """The token ids before the first position, the token after each position, and the tokens whose
    repetition is reported."""
    ids = pair.encode(prompt)
    if not own:
        return ids[:1], (*ids[1:], ids[0]), ids  # the token after the last position does not matter
    steps = with_progress(plain(pair, prompt, params), params.max_new_tokens, progress)
    made = emitted_tokens(steps)
    return ids, made, made


def agreement(pair: Pair, texts: Iterable[str]) -> float:
    """The mean of `shared_mass`: 0 if target and draft have nothing in common, 1 if they agree."""
    return float(shared_mass(pair, texts).mean())


def shared_mass(pair: Pair, texts: Iterable[str]) -> torch.Tensor:
    """(positions,) sum(min(p, q)) at temperature 1 after each of the last `LATEST` tokens of every
    text."""
    shared = list[torch.Tensor]()
    for text in texts:
        shared += overlaps(pair, pair.encode(text)[-LATEST:], 1, 1.0)
    return torch.cat(shared)


def overlaps(
    pair: Pair, text: Sequence[int], first: int, temperature: float
) -> Iterator[torch.Tensor]:
    """(positions,) sum(min(p, q)) after text[:first], text[:first + 1], ... and the whole text, in
    blocks. At temperature 0 it is 1 where the most probable tokens of target and draft agree, else
    0."""
    params = SamplingParams(temperature=temperature)
    for both in zip(
        logits_along(pair.target, text, first), logits_along(pair.draft, text, first), strict=True
    ):
        p, q = (target_rows(logits, params).cpu() for logits in both)
        yield torch.minimum(p, q).sum(-1)


def logits_along(model: Draft, text: Sequence[int], first: int) -> Iterator[torch.Tensor]:
    """(positions, vocab) logits after text[:first], text[:first + 1], ... and the whole text, in
    blocks of at most BLOCK positions."""
    context = model.open(len(text))
    if first > 1:
        context.extend(text[: first - 1])
    rest = text[first - 1 :]
    rows = TreeLayout(context, Tree.chain(min(BLOCK, len(rest))))
    for start in range(0, len(rest), BLOCK):
        block = rest[start : start + BLOCK]
        yield context.forward(block, rows)
        context.keep(range(len(block)))


# -- places in a text ------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextPlace:
    """A place in a text. token: the id of the token that follows. p, q: (vocab,) the target's and
    the draft's distribution for that token, given the text before it. q_row: (1, vocab) q as the
    tensor that children are drawn from."""

    token: int
    p: NDArray[np.float64]
    q: NDArray[np.float32]
    q_row: torch.Tensor

    def chances(self, rule: Verifier, ranks: int, chance: Chance) -> NDArray[np.float64]:
        """(ranks,) for each of `ranks` siblings drawn here, the probability that it is the accepted
        one. rule: one with `chances` (see `Verifier`)."""
        assert rule.chances is not None
        (siblings,) = rule.draw(chance, self.q_row, [ranks])
        return np.array(rule.chances(self.p, self.q, siblings), dtype=float)


def text_places(
    pair: Pair, prompt: Sequence[int], text: Sequence[int], params: SamplingParams
) -> Iterator[TextPlace]:
    """The place before each token of `text`, which follows `prompt`. Raises BadModel if a model's
    logits overflow."""
    context = (*prompt, *text[:-1])
    token = iter(text)
    for target, draft in zip(
        logits_along(pair.target, context, len(prompt)),
        logits_along(pair.draft, context, len(prompt)),
        strict=True,
    ):
        p = target_rows(target, params).cpu().numpy()  # (positions, vocab)
        q_rows = draft_rows(draft, params)
        q = q_rows.cpu().numpy()
        for row in range(len(p)):
            yield TextPlace(next(token), p[row], q[row], q_rows[row : row + 1])
