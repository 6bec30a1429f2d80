"""Files of taught texts: safetensors with all texts of a shard one after the other."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from sequoia.distill.teacher import Taught


def shard_path(folder: Path, kind: str, number: int) -> Path:
    """The file of a shard. kind: what its texts are, one word."""
    return folder / f"{kind}-{number:05d}.safetensors"


def kind_of(path: Path) -> str:
    """What the texts of the shard at `path` are."""
    return path.name.partition("-")[0]


def write(path: Path, texts: list[Taught]) -> None:
    """Write `texts` to the file `path`, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    save_file(
        {
            "tokens": torch.cat([text.tokens for text in texts]).int().cpu(),
            "ids": torch.cat([text.ids for text in texts]).cpu(),
            "logs": torch.cat([text.logs for text in texts]).cpu(),
            "ends": torch.tensor([len(text.tokens) for text in texts]).cumsum(0),
            "begins": torch.tensor([text.begin for text in texts]),
        },
        unfinished,
    )
    unfinished.replace(path)


class Shard:
    """The texts of a file, read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._file = safe_open(path, "pt")
        self._ends = [0, *self._file.get_tensor("ends").tolist()]
        self._begins = self._file.get_tensor("begins").tolist()

    def __len__(self) -> int:
        return len(self._begins)

    def __getitem__(self, index: int) -> Taught:
        part = slice(self._ends[index], self._ends[index + 1])
        tokens, ids, logs = (self._file.get_slice(name)[part] for name in ("tokens", "ids", "logs"))
        return Taught(tokens, self._begins[index], ids, logs)

    def counts(self, vocab: int) -> torch.Tensor:
        """How often each of `vocab` tokens occurs."""
        return torch.bincount(self._file.get_tensor("tokens"), minlength=vocab)
