"""The training of a draft's layers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from sequoia.distill.shards import Taught, save

RATE = 1e-3
_LAST_RATE = 0.02  # as a fraction of the rate
_FALL = 0.3  # share of the time in which the rate falls
_WARM_UP = 30  # steps
_POSITIONS = 768  # compared in a step
_OTHERS = 4096  # tokens that stand for all that a step's lists lack
_LEAST = 1e-6  # the least probability that has a logarithm
TEMPERATURES = (0.6, 1.0)  # at which the overlap of draft and teacher is trained
_DIVERGENCE = 0.1  # weight of the divergence beside the overlap


class Training:
    """The layers of `draft` in float32 and the optimizer. The state is kept in the file `path`,
    and a training goes on from there. rate: of learning, until it falls."""

    def __init__(self, draft: Any, path: Path, rate: float = RATE) -> None:
        self._draft = draft
        self._path = path
        self._rate = rate
        self.steps = self.tokens = 0
        self.seconds = 0.0
        self._layers = draft.model.layers.float().requires_grad_(True)
        self._optimizer = torch.optim.AdamW(self._layers.parameters(), betas=(0.9, 0.95))
        if path.exists():
            state = torch.load(path, map_location=draft.device)
            self._layers.load_state_dict(state["layers"])
            self._optimizer.load_state_dict(state["optimizer"])
            self.steps, self.tokens, self.seconds = state["progress"]

    def save(self) -> None:
        """Write the state to the file."""
        state = {
            "layers": self._layers.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "progress": (self.steps, self.tokens, self.seconds),
        }
        save(self._path, state)

    def step(self, texts: list[Taught], done: float) -> tuple[float, float]:
        """One step on `texts`. done: the fraction of the time that is over. Returns the divergence
        and the sum of min(p, q), both before the step.

        The loss of a position is the mean of -log(sum of min(p, q)) over TEMPERATURES, plus
        _DIVERGENCE times the divergence. The divergence alone makes a small draft spread its
        probability over all that the teacher may say; fewer guesses are accepted then.
        """
        chance = torch.Generator().manual_seed(self.steps)
        kl, overlap = compared(self._draft, texts, chance)
        loss = _DIVERGENCE * kl.mean() - overlap.clamp(min=_LEAST).log().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._layers.parameters(), 1.0)
        warm = min(1, (1 + self.steps) / _WARM_UP)
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * warm * max(_LAST_RATE, min(1, (1 - done) / _FALL))
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.steps += 1
        self.tokens += sum(len(text.tokens) for text in texts)
        return kl.mean().item(), overlap.mean().item()


def compared(
    draft: Any, texts: list[Taught], chance: torch.Generator, others: int = _OTHERS
) -> tuple[torch.Tensor, torch.Tensor]:
    """At random positions of `texts`: the Kullback-Leibler divergence of the draft from the teacher
    (positions,), and the sum of min(p, q) over the tokens in the teacher's lists, at each of
    TEMPERATURES (temperatures, positions).

    In the divergence, all tokens that a list lacks count as one. The draft's logits are computed
    for the tokens in the lists and for `others` random ones, which stand for all the rest.
    """
    device = draft.device
    head = draft.lm_head.weight.detach()
    places = _places(texts, chance)
    ids = torch.stack([texts[row].ids[at] for row, at in places]).to(device)
    logs = torch.stack([texts[row].logs[at] for row, at in places]).to(device).float()
    listed, columns = ids.long().unique(return_inverse=True)
    rest = torch.randint(len(head), (others,), generator=chance).to(device)
    rest = rest[~torch.isin(rest, listed)]
    tokens = pad_sequence([text.tokens for text in texts], batch_first=True).to(device)
    with torch.autocast(device.type, torch.bfloat16):
        embedded = draft.model.embed_tokens(tokens).detach().float()
        states = draft.model(inputs_embeds=embedded, use_cache=False).last_hidden_state
        states = states[torch.tensor(places, device=device).unbind(1)]
        logits = F.linear(states, head[torch.cat((listed, rest))]).float()
    # each token of `rest` stands for as many of all that are not listed
    weight = torch.zeros_like(logits[0])
    weight[len(listed) :] = math.log((len(head) - len(listed)) / max(1, len(rest)))
    at = {heat: _of_listed(logits / heat + weight, columns) for heat in TEMPERATURES}
    p = _with_rest(logs)
    q = _with_rest(at[1.0])
    kl = (p.exp() * (p - q)).sum(-1)
    heated = [logs if heat == 1 else (logs / heat).log_softmax(-1) for heat in TEMPERATURES]
    overlaps = [
        torch.minimum(one, at[heat]).exp().sum(-1)
        for one, heat in zip(heated, TEMPERATURES, strict=True)
    ]
    return kl, torch.stack(overlaps)


def _of_listed(logits: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Logarithms of the draft's probabilities of the tokens in the lists, (positions, TOP)."""
    return logits.gather(1, columns) - logits.logsumexp(-1, keepdim=True)


def _places(texts: list[Taught], chance: torch.Generator) -> list[tuple[int, int]]:
    """Up to _POSITIONS random positions with a distribution: the text, and the place in it."""
    known = [
        (row, at)
        for row, text in enumerate(texts)
        for at in range(text.begin, len(text.tokens) - bool(text.begin))
    ]
    order = torch.randperm(len(known), generator=chance)[:_POSITIONS]
    return [known[index] for index in order.tolist()]


def _with_rest(logs: torch.Tensor) -> torch.Tensor:
    """Logarithms of probabilities (positions, TOP + 1), the last that of all other tokens."""
    rest = 1 - logs.exp().sum(-1, keepdim=True)
    return torch.cat((logs, rest.clamp(min=_LEAST).log()), -1)
