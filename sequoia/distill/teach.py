"""The target as teacher: its answers to prompts, and its distributions along texts."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from sequoia.distill.shards import ANSWERS, Taught, write_shard
from sequoia.models.pair import Pair
from sequoia.text_files import load_json

HELD_OUT = "held-out"  # the folder of the shards for measuring
_FEW = 8  # rows of a vocabulary that are made wider at once, so that they stay in the cache
TOP = 64  # tokens of each distribution that are kept, the most probable ones
_TEXTS = 96  # of a shard, at most
_TOKENS = 256  # of a text, and at most of an answer
_AT_ONCE = 8  # texts read in one pass
_DRAWN = 2000  # prompts from which _TEXTS of the same length are taken
_COLDEST = 0.6  # temperature of an answer; the highest is 1
_HELD_EVERY = 40  # every fortieth file is held out


class Teacher:
    """Writes shards to `folder`: of answers, and in turn with them of each kind of text in
    `files`. Topics and files that are held out occur only in the folder HELD_OUT in it."""

    def __init__(self, pair: Pair, folder: Path, files: list[Path]) -> None:
        self._pair = pair.as_chat() if pair.template else pair
        self._model = pair.target.hf
        self._model.set_attn_implementation(_NAME)
        self._folder = folder
        self._texts = texts_by_kind(files)
        self.stopped = False

    def hold_out(self) -> None:
        """Write the held-out shard of each kind, unless it exists."""
        for kind in self._kinds(True):
            path = self._folder / HELD_OUT / f"{kind}-00000.pt"
            if not path.exists():
                write_shard(path, self._taught(kind, True, 0))

    def teach(self) -> None:
        """Write further shards until `stopped` is set."""
        [answers, *others] = self._kinds(False)
        turns = [*chain(*([answers, kind] for kind in others))] or [answers]
        number = len([*self._folder.glob("*.pt")])
        while not self.stopped:
            kind = turns[number % len(turns)]
            write_shard(self._folder / f"{kind}-{number:05d}.pt", self._taught(kind, False, number))
            number += 1
            print(f"shard {number}: {kind}", flush=True)

    def _kinds(self, held_out: bool) -> list[str]:
        return [ANSWERS, *(kind for kind, texts in self._texts.items() if texts[held_out])]

    def _taught(self, kind: str, held_out: bool, number: int) -> list[Taught]:
        if kind == ANSWERS:
            rows = [*map(self._pair.encode, islice(prompts(number, held_out), _DRAWN))]
            alike = torch.tensor([row for row in rows if len(row) == len(rows[0])][:_TEXTS])
            heat = _COLDEST + (1 - _COLDEST) * torch.rand(len(alike), 1)
            return answers(self._model, alike, heat, self._pair.stop, _TOKENS)
        chance = random.Random(f"{number} {held_out}")
        texts = self._texts[kind][held_out]
        rows = torch.tensor([self._row(texts, chance) for _ in range(_TEXTS)])
        return [text for some in rows.split(_AT_ONCE) for text in read(self._model, some)]

    def _row(self, texts: list[str], chance: random.Random) -> list[int]:
        """_TOKENS tokens from a random place of a random text, and of further ones if it is too
        short."""
        row = list[int]()
        while len(row) < _TOKENS:
            text = chance.choice(texts)
            start = chance.randrange(len(text))
            ids = self._pair.tokenizer(text[start:][: 10 * _TOKENS], add_special_tokens=False)
            row += [*ids.input_ids[bool(start) :], *self._pair.stop]  # without a half word
        return row[:_TOKENS]


def texts_by_kind(files: list[Path]) -> dict[str, tuple[list[str], list[str]]]:
    """The texts of `files` by kind: those for the training, and those held out, selected by a hash.
    Each line of a JSONL file has a "text" and its "kind"; any other file is one text."""
    kinds: dict[str, tuple[list[str], list[str]]] = {}
    for kind, text in chain(*map(_read, files)):
        number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        kinds.setdefault(kind, ([], []))[number % _HELD_EVERY == 0].append(text)
    return kinds


def _read(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".jsonl":
        yield from ((row["kind"], row["text"]) for row in map(json.loads, text.splitlines()))
    elif text:
        yield "text", text


def top(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`ids` and `logs` of a Taught for the logits (n, vocab)."""
    best = logits.topk(TOP)
    few = logits.split(_FEW)
    total = torch.cat([rows.float().logsumexp(-1, keepdim=True) for rows in few])
    return best.indices.int(), (best.values.float() - total).half()


@torch.inference_mode()
def read(model: Any, rows: torch.Tensor) -> list[Taught]:
    """The distributions along the texts `rows` (texts, n)."""
    states = model.model(rows.to(model.device), use_cache=False).last_hidden_state
    return [
        Taught(row.int(), *top(model.lm_head(each)), 0)
        for row, each in zip(rows, states, strict=True)
    ]


@torch.inference_mode()
def answers(
    model: Any, asked: torch.Tensor, heat: torch.Tensor, stop: frozenset[int], new: int
) -> list[Taught]:
    """Answers of up to `new` tokens to the prompts `asked` (texts, n), sampled at the temperatures
    `heat` (texts, 1). An answer ends with one of the tokens `stop`."""
    given = asked.to(model.device)
    heat = heat.to(model.device)
    texts, begin = asked.shape
    size = begin + new
    tokens = torch.nn.functional.pad(given, (0, new))
    ids = tokens.new_zeros(texts, size, TOP, dtype=torch.int)
    logs = ids.half()
    ends = torch.full_like(tokens[:, 0], size)
    going = torch.arange(texts, device=model.device)  # the texts that have not ended
    last = torch.tensor([*stop], device=model.device)
    slots = [_Slots(size) for _ in model.model.layers]
    cache: Any = DynamicCache()
    cache.layers = slots
    for at in range(begin, size):
        logits = model(given, past_key_values=cache, logits_to_keep=1).logits[:, -1]
        ids[going, at - 1], logs[going, at - 1] = top(logits)
        given = torch.multinomial((logits.float() / heat[going]).softmax(-1), 1)
        tokens[going, at] = given[:, 0]
        more = ~torch.isin(given[:, 0], last)
        ends[going[~more]] = at + 1
        if not more.any():
            break
        if not more.all():
            going, given = going[more], given[more]
            for layer in slots:
                layer.keep(more)
    return [
        Taught(tokens[row, :end].int(), ids[row, :end], logs[row, :end], begin - 1)
        for row, end in enumerate(ends.tolist())
    ]


_NAME = "sequoia_one_token"


def _one_token(
    module: Any, query: Any, key: Any, value: Any, mask: Any, **settings: Any
) -> tuple[Any, None]:
    """The attention of transformers' "sdpa", except where each text has one new token: there the
    query heads that share a key head are its rows, so that no key or value is copied."""
    texts, heads, new, size = query.shape
    if new > 1:
        return sdpa_attention_forward(module, query, key, value, mask, **settings)
    rows = query.view(texts, key.shape[1], -1, size)
    out = functional.scaled_dot_product_attention(rows, key, value, scale=settings["scaling"])
    return out.view(texts, 1, heads, size), None


AttentionInterface.register(_NAME, _one_token)
AttentionMaskInterface.register(_NAME, sdpa_mask)


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
        self._slots[:, :, :, start : self._length] = torch.stack((key_states, value_states))
        self.keys, self.values = self._slots[:, :, :, : self._length]
        return self.keys, self.values

    def keep(self, rows: torch.Tensor) -> None:
        """Drop all texts but `rows`."""
        self._slots = self._slots[:, rows]


_HELD_TOPICS = 10  # every tenth topic is held out


def prompts(seed: int, held_out: bool) -> Iterator[str]:
    """Prompts in random order without end. No topic occurs both with and without `held_out`."""
    kinds = [*load_json(Path(__file__).with_name("prompts.json")).values()]
    chance = random.Random(seed)
    while True:
        [kind] = chance.choices(kinds, [kind["weight"] for kind in kinds])
        number = chance.randrange(len(kind["items"]))
        if (number % _HELD_TOPICS == 0) == held_out:
            yield chance.choice(kind["forms"]).replace("{}", kind["items"][number])
