"""What the teacher teaches: answers to prompts, and texts of files."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from sequoia.distill.feed import ANSWERS
from sequoia.distill.prompts import prompts
from sequoia.distill.shards import shard_path, write
from sequoia.distill.teacher import Taught, alike, answer, read

_TEXTS = 96  # of a shard
_AT_ONCE = 8  # texts read in one pass
_TOKENS = 256  # of a text, and at most of an answer
_CHARACTERS = 10 * _TOKENS
_HELD_EVERY = 40  # every fortieth file is held out
_COLDEST = 0.6
HELD_OUT = "held-out"


class Lessons:
    """Writes shards to `folder`. They are of each kind in turn, answers every other time. Topics
    and files that are held out go to the folder HELD_OUT in it, and nowhere else."""

    def __init__(
        self, model: Any, tokenizer: Any, stop: frozenset[int], folder: Path, texts: list[Path]
    ) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._stop = stop
        self._end = min(stop)
        self._folder = folder
        self._texts = texts_by_kind(texts)
        self._number = len([*folder.glob("*.safetensors")])
        self._chats = self._prompts(self._number, False)
        others = [[ANSWERS, kind] for kind in sorted(self._texts) if self._texts[kind][0]] or [
            [ANSWERS]
        ]
        self._turns = [*itertools.chain(*others)]

    def hold_out(self) -> None:
        """Write the held-out shard of each kind, unless it exists."""
        for kind in (ANSWERS, *(kind for kind, (_, held_out) in self._texts.items() if held_out)):
            path = shard_path(self._folder / HELD_OUT, kind, 0)
            if not path.exists():
                write(path, self._taught(kind, True, self._prompts(0, True)))

    def next(self) -> str:
        """Write one shard. Returns what it is, in words."""
        kind = self._turns[self._number % len(self._turns)]
        taught = self._taught(kind, False, self._chats)
        write(shard_path(self._folder, kind, self._number), taught)
        self._number += 1
        tokens = sum(len(text.tokens) for text in taught)
        return f"shard {self._number}: {len(taught)} texts of {kind}, {tokens:,} tokens"

    def _taught(self, kind: str, held_out: bool, chats: Iterator[torch.Tensor]) -> list[Taught]:
        if kind == ANSWERS:
            given = next(chats)
            heat = _COLDEST + (1 - _COLDEST) * torch.rand(len(given), 1)
            return answer(self._model, given, heat, self._stop, _TOKENS)
        chance = random.Random(f"{self._number} {held_out}")
        texts = self._texts[kind][held_out]
        drawn = torch.tensor([self._row(texts, chance) for _ in range(_TEXTS)])
        return [text for part in drawn.split(_AT_ONCE) for text in read(self._model, part)]

    def _row(self, texts: list[str], chance: random.Random) -> list[int]:
        """_TOKENS tokens from a random place of a random text, and of further ones if it is too
        short."""
        row = list[int]()
        while len(row) < _TOKENS:
            text = chance.choice(texts)
            start = chance.randrange(max(1, len(text) - _CHARACTERS))
            ids = self._tokenizer(text[start : start + _CHARACTERS], add_special_tokens=False)
            row += [*ids.input_ids[bool(start) :], self._end]  # the first may be half a word
        return row[:_TOKENS]

    def _prompts(self, seed: int, held_out: bool) -> Iterator[torch.Tensor]:
        return alike(map(self._wrapped, prompts(seed, held_out)), _TEXTS)

    def _wrapped(self, prompt: str) -> list[int]:
        if not self._tokenizer.chat_template:
            return self._tokenizer(prompt).input_ids
        message = [{"role": "user", "content": prompt}]
        return self._tokenizer.apply_chat_template(
            message, add_generation_prompt=True, return_dict=False
        )


def texts_by_kind(files: list[Path]) -> dict[str, tuple[list[str], list[str]]]:
    """The texts of `files` by kind: those for the training, and those held out. A line of a JSONL
    file has the fields text and kind; any other file is a text of the kind "code" or "prose"."""
    kinds: dict[str, tuple[list[str], list[str]]] = {}
    for kind, text in itertools.chain(*map(_read, files)):
        kinds.setdefault(kind, ([], []))[is_held_out(text)].append(text)
    return kinds


def is_held_out(text: str) -> bool:
    """Whether a text is for measuring, not for the training. The same text always is."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % _HELD_EVERY == 0


def _read(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8", errors="ignore")
    if file.suffix == ".jsonl":
        for row in map(json.loads, text.splitlines()):
            yield row.get("kind", "prose"), row["text"]
    else:
        yield "prose" if file.suffix in ("", ".txt", ".md", ".rst") else "code", text
