"""The target as teacher: its answers to prompts, and its distributions along texts."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from sequoia.distill.shards import ANSWERS, Taught, write_shard
from sequoia.models.pair import Pair
from sequoia.text_files import load_json

HELD_OUT = "held-out"  # the folder of the shards for measuring
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
        self._folder = folder
        self._texts = texts_by_kind(files)

    def hold_out(self) -> None:
        """Write the held-out shard of each kind, unless it exists."""
        for kind in self._kinds(True):
            path = self._folder / HELD_OUT / f"{kind}-00000.pt"
            if not path.exists():
                write_shard(path, self.taught(kind, True, 0))

    def teach(self) -> None:
        """Write the next shard."""
        [answers, *others] = self._kinds(False)
        turns = [*chain(*([answers, kind] for kind in others))] or [answers]
        numbers = (int(path.stem.rpartition("-")[2]) for path in self._folder.glob("*.pt"))
        number = 1 + max(numbers, default=-1)
        kind = turns[number % len(turns)]
        write_shard(self._folder / f"{kind}-{number:05d}.pt", self.taught(kind, False, number))

    def _kinds(self, held_out: bool) -> list[str]:
        return [ANSWERS, *(kind for kind, texts in self._texts.items() if texts[held_out])]

    def taught(self, kind: str, held_out: bool, number: int) -> list[Taught]:
        """The texts of a shard. number: other texts for each."""
        torch.manual_seed(number)
        if kind != ANSWERS:
            return self._read(self._texts[kind][held_out], random.Random(f"{number} {held_out}"))
        if self._pair.template and number // 2 % 2 and not held_out:
            return self._chats()
        rows = [*map(self._pair.encode, islice(prompts(number, held_out), _DRAWN))]
        alike = [row for row in rows if len(row) == len(rows[0])]
        return self._written(alike[:_TEXTS], self._pair.stop)

    def _chats(self) -> list[Taught]:
        """Chats in which the target wrote the questions too. They name no topic that is held
        out."""
        first, other = (self._pair.encode(message) for message in ("a", "Z"))
        same = takewhile(lambda both: both[0] == both[1], zip(first, other, strict=False))
        chats = self._written([[token for token, _ in same]] * _TEXTS, frozenset())
        topics = held_out_topics()
        texts = self._pair.tokenizer.batch_decode([chat.tokens for chat in chats])
        return [chat for chat, text in zip(chats, texts, strict=True) if not topics.search(text)]

    def _written(self, prompts: list[Any], stop: frozenset[int]) -> list[Taught]:
        heat = _COLDEST + (1 - _COLDEST) * torch.rand(len(prompts), 1)
        return answers(self._model, torch.tensor(prompts), heat, stop)

    def _read(self, texts: list[str], chance: random.Random) -> list[Taught]:
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
    for kind, text in chain(*map(_rows, files)):
        number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        kinds.setdefault(kind, ([], []))[number % _HELD_EVERY == 0].append(text)
    return kinds


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".jsonl":
        yield from ((row["kind"], row["text"]) for row in map(json.loads, text.splitlines()))
    elif text:
        yield "text", text


def top(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`ids` and `logs` of a Taught for the logits (n, vocab)."""
    best = logits.float().log_softmax(-1).topk(TOP)
    return best.indices.int(), best.values.half()


@torch.inference_mode()
def read(model: Any, rows: torch.Tensor) -> list[Taught]:
    """The distributions along the texts `rows` (texts, n)."""
    states = model.model(rows.to(model.device), use_cache=False).last_hidden_state
    return [
        Taught(row.int(), *top(model.lm_head(each)), 0)
        for row, each in zip(rows, states, strict=True)
    ]


def answers(
    model: Any, asked: torch.Tensor, heat: torch.Tensor, stop: frozenset[int]
) -> list[Taught]:
    """Answers of up to _TOKENS tokens to the prompts `asked` (texts, n), sampled at the
    temperatures `heat` (texts, 1). An answer ends with one of the tokens `stop`."""
    asked = asked.to(model.device)
    model.lm_head.weight.requires_grad_()  # torch would copy a frozen head for every text
    begin = asked.shape[1] - 1
    drawing = _Drawing(heat.to(model.device))
    rules = GenerationConfig(max_new_tokens=_TOKENS, eos_token_id=[*stop] or [-1], pad_token_id=0)
    found = model.generate(
        asked,
        rules,
        attention_mask=torch.ones_like(asked),
        logits_processor=LogitsProcessorList([drawing]),
    )
    # no distribution is known before the last token of the prompt and after the whole text
    ids, logs = (functional.pad(torch.stack(kept, 1), (0, 0, begin, 1)) for kept in drawing.kept)
    stops = torch.isin(found[:, begin + 1 :], torch.tensor([*stop], device=found.device)).int()
    ends = begin + 1 + (stops.cumsum(1) - stops == 0).sum(1)  # each with its first stop token
    return [
        Taught(found[row, :end].int(), ids[row, :end], logs[row, :end], begin)
        for row, end in enumerate(ends.tolist())
    ]


class _Drawing(LogitsProcessor):
    """Leaves only a token drawn at the temperatures `heat` (texts, 1), and keeps the `ids` and
    `logs` of a Taught that it was drawn from. transformers would draw with torch.multinomial, which
    makes a random number for every token of the vocabulary: a third of the time of a pass."""

    def __init__(self, heat: torch.Tensor) -> None:
        self._heat = heat
        self.kept: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])

    def __call__(self, _tokens: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        for kept, values in zip(self.kept, top(logits), strict=True):
            kept.append(values)
        sums = (logits.float() / self._heat).softmax(-1).cumsum(-1)
        chance = torch.rand_like(sums[:, :1]) * sums[:, -1:]
        drawn = torch.searchsorted(sums, chance, right=True).clamp(max=sums.shape[-1] - 1)
        return torch.full_like(logits, -torch.inf).scatter_(1, drawn, 0)


_HELD_TOPICS = 10  # every tenth topic is held out


@cache
def _kinds_of_prompts() -> list[dict[str, Any]]:
    return [*load_json(Path(__file__).with_name("prompts.json")).values()]


@cache
def held_out_topics() -> re.Pattern[str]:
    """What finds a topic that is held out in a text."""
    items = (item for kind in _kinds_of_prompts() for item in kind["items"][::_HELD_TOPICS])
    return re.compile(rf"\b({'|'.join(map(re.escape, items))})\b", re.IGNORECASE)


def prompts(seed: int, held_out: bool) -> Iterator[str]:
    """Prompts in random order without end. No topic occurs both with and without `held_out`."""
    kinds = _kinds_of_prompts()
    chance = random.Random(seed)
    while True:
        [kind] = chance.choices(kinds, [kind["weight"] for kind in kinds])
        number = chance.randrange(len(kind["items"]))
        if (number % _HELD_TOPICS == 0) == held_out:
            yield chance.choice(kind["forms"]).replace("{}", kind["items"][number])
