"""The training of a draft's layers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from sequoia.distill.teacher import Taught

_RATE = 1e-3
_LAST_RATE = 0.02  # as a fraction of _RATE
_FALL = 0.3  # share of the time in which the rate falls
_WARM_UP = 30  # steps
_POSITIONS = 768  # compared in a step
_OTHERS = 4096  # tokens that stand for all that a step's lists lack
_LEAST = 1e-6  # probability of all tokens that a list lacks, to have a logarithm


class Batch(NamedTuple):
    """Texts of one step, and the positions whose distributions are compared.

    tokens: (texts, n), padded at the end. where: (positions, 2), the text and the position in it.
    ids, logs: (positions, TOP), see Taught.
    """

    tokens: torch.Tensor
    where: torch.Tensor
    ids: torch.Tensor
    logs: torch.Tensor


class Training:
    """The layers of `draft` in float32 and the optimizer. The state is kept in the file `path`,
    and a training goes on from there."""

    def __init__(self, draft: Any, path: Path) -> None:
        self._draft = draft
        self._path = path
        self.steps = self.tokens = 0
        self.seconds = 0.0
        self._layers = draft.model.layers.float().requires_grad_(True)
        self._optimizer = torch.optim.AdamW(
            self._layers.parameters(), betas=(0.9, 0.95), weight_decay=0.01
        )
        if path.exists():
            self._resume(torch.load(path, map_location=draft.device))
        self._first = self.steps

    def _resume(self, state: dict[str, Any]) -> None:
        self._layers.load_state_dict(state["layers"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.steps, self.tokens, self.seconds = state["progress"]

    def save(self) -> None:
        """Write the state, all or nothing."""
        unfinished = self._path.with_suffix(".unfinished")
        state = {
            "layers": self._layers.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "progress": (self.steps, self.tokens, self.seconds),
        }
        torch.save(state, unfinished)
        unfinished.replace(self._path)

    def step(self, texts: list[Taught], done: float) -> tuple[float, float]:
        """One step on `texts`. done: the fraction of the time that is over. Returns the divergence
        and the sum of min(p, q) before the step."""
        chance = torch.Generator().manual_seed(self.steps)
        batch = batch_of(texts, _POSITIONS, chance)
        others = torch.randint(self._draft.config.vocab_size, (_OTHERS,), generator=chance)
        kl, overlap = compared(self._draft, batch, others.to(self._draft.device))
        kl.backward()
        torch.nn.utils.clip_grad_norm_(self._layers.parameters(), 1.0)
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate(done)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.steps += 1
        self.tokens += batch.tokens.numel()
        return kl.item(), overlap.item()

    def _rate(self, done: float) -> float:
        warm = min(1, (1 + self.steps - self._first) / _WARM_UP)
        return _RATE * warm * max(_LAST_RATE, min(1, (1 - done) / _FALL))


def batch_of(texts: list[Taught], positions: int, chance: torch.Generator) -> Batch:
    """Up to `positions` random positions of `texts`."""
    tokens = torch.nn.utils.rnn.pad_sequence([text.tokens for text in texts], batch_first=True)
    known = torch.zeros(tokens.shape, dtype=torch.bool)
    for row, text in enumerate(texts):
        known[row, text.begin : len(text.tokens) - bool(text.begin)] = True
    where = known.nonzero()
    where = where[torch.randperm(len(where), generator=chance)[:positions]]
    pairs = where.tolist()
    return Batch(
        tokens.long(),
        where,
        torch.stack([texts[row].ids[at] for row, at in pairs]).long(),
        torch.stack([texts[row].logs[at] for row, at in pairs]).float(),
    )


def compared(draft: Any, batch: Batch, others: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The Kullback-Leibler divergence of the draft from the teacher, and the sum of min(p, q) over
    the tokens in the teacher's list, each a mean over the positions.

    In the divergence, all tokens that the list lacks count as one. others: random token ids. The
    draft's logits are computed only for these and for the tokens in the lists; those of `others`
    stand for all the rest.
    """
    listed, places = batch.ids.to(draft.device).unique(return_inverse=True)
    others = others[~torch.isin(others, listed)]
    head = draft.lm_head.weight
    tokens = torch.cat((listed, others))
    states = draft_states(draft, batch.tokens.to(draft.device))[batch.where.unbind(1)]
    with torch.autocast(draft.device.type, torch.bfloat16):
        logits = F.linear(states, head[tokens]).float()
    each = (len(head) - len(listed)) / max(
        1, len(others)
    )  # tokens for which one of `others` stands
    weights = torch.zeros(len(tokens), device=draft.device)
    weights[len(listed) :] = math.log(each)
    total = (logits + weights).logsumexp(-1, keepdim=True)
    p = _with_rest(batch.logs.to(draft.device))
    q = _with_rest(logits.gather(1, places) - total)
    kl = (p.exp() * (p - q)).sum(-1).mean()
    return kl, torch.minimum(p, q)[:, :-1].exp().sum(-1).mean()


def draft_states(draft: Any, tokens: torch.Tensor) -> torch.Tensor:
    """The draft's last hidden states (texts, n, hidden) along `tokens` (texts, n)."""
    with torch.autocast(tokens.device.type, torch.bfloat16):
        embedded = draft.model.embed_tokens(tokens).float()
        return draft.model(inputs_embeds=embedded, use_cache=False).last_hidden_state


def _with_rest(logs: torch.Tensor) -> torch.Tensor:
    """Logarithms of probabilities (positions, TOP + 1), the last that of all other tokens."""
    rest = 1 - logs.exp().sum(-1, keepdim=True)
    return torch.cat((logs, rest.clamp(min=_LEAST).log()), -1)
