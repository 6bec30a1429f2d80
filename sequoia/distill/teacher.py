"""The target as teacher: its answers to prompts, and its probabilities of each next token."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

TOP = 64  # tokens of each distribution that are kept, the most probable ones


class Taught(NamedTuple):
    """A text with the teacher's distributions after its tokens, from position `begin` on. After
    the last token of an answer there is none.

    tokens: (n,). ids: (n, TOP), the most probable tokens. logs: (n, TOP) float16, the natural
    logarithms of their probabilities.
    """

    tokens: torch.Tensor
    begin: int
    ids: torch.Tensor
    logs: torch.Tensor


def top(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`ids` and `logs` of a text for the logits (n, vocab)."""
    best = logits.topk(TOP)
    logs = best.values.float() - logits.float().logsumexp(-1, keepdim=True)
    return best.indices.int(), logs.half()


@torch.inference_mode()
def read(model: Any, rows: torch.Tensor) -> list[Taught]:
    """The distributions along the texts `rows` (texts, n)."""
    states = model.model(rows.to(model.device), use_cache=False).last_hidden_state
    return [
        Taught(row, 0, *top(model.lm_head(each))) for row, each in zip(rows, states, strict=True)
    ]


@torch.inference_mode()
def answer(
    model: Any, prompts: torch.Tensor, temperatures: torch.Tensor, stop: frozenset[int], new: int
) -> list[Taught]:
    """Answers to `prompts` (texts, n), each of up to `new` tokens, sampled at `temperatures`
    (texts, 1). An answer ends with one of the tokens `stop`."""
    device = model.device
    begin = prompts.shape[1]
    size = begin + new
    cache: Any = DynamicCache()
    slots = [_Slots(size) for _ in model.model.layers]
    cache.layers = slots
    tokens = torch.zeros(len(prompts), size, dtype=torch.long, device=device)
    tokens[:, :begin] = prompts
    ids = torch.zeros(len(prompts), size, TOP, dtype=torch.int, device=device)
    logs = torch.zeros(len(prompts), size, TOP, dtype=torch.half, device=device)
    ends = torch.full((len(prompts),), size, device=device)
    going = torch.arange(len(prompts), device=device)  # the answers that have not ended
    temperatures = temperatures.to(device)
    last = torch.tensor(sorted(stop), device=device)
    given = prompts.to(device)
    for at in range(begin, size):
        logits = model(given, past_key_values=cache, logits_to_keep=1).logits[:, -1]
        ids[going, at - 1], logs[going, at - 1] = top(logits)
        given = torch.multinomial((logits.float() / temperatures[going]).softmax(-1), 1)
        tokens[going, at] = given[:, 0]
        ended = torch.isin(given[:, 0], last)
        if ended.any():
            ends[going[ended]] = at + 1
            going, given = going[~ended], given[~ended]
            for layer in slots:
                layer.keep(~ended)
        if not len(going):
            break
    return [
        Taught(tokens[row, :end], begin - 1, ids[row, :end], logs[row, :end])
        for row, end in enumerate(ends.tolist())
    ]


def alike(rows: Iterable[list[int]], batch: int) -> Iterator[torch.Tensor]:
    """Batches of `rows` with the same number of tokens, so that none needs padding."""
    waiting: dict[int, list[list[int]]] = defaultdict(list)
    for row in rows:
        waiting[len(row)].append(row)
        if len(waiting[len(row)]) == batch:
            yield torch.tensor(waiting.pop(len(row)))


class _Slots(DynamicLayer):
    """A cache layer that writes into `size` slots made beforehand. DynamicLayer would copy the
    whole cache for every token."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._length = 0

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> Any:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            texts, heads, _, dim = key_states.shape
            self._slots = key_states.new_empty(2, texts, heads, self._size, dim)
        start = self._length
        self._length += key_states.shape[2]
        self._slots[0, :, :, start : self._length] = key_states
        self._slots[1, :, :, start : self._length] = value_states
        self.keys, self.values = self._seen()
        return self.keys, self.values

    def keep(self, rows: torch.Tensor) -> None:
        """Drop all texts but `rows`."""
        self._slots = self._slots[:, rows]
        self.keys, self.values = self._seen()

    def _seen(self) -> tuple[torch.Tensor, torch.Tensor]:
        keys, values = self._slots[:, :, :, : self._length]
        return keys, values
