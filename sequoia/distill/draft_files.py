"""Writes a draft: its layers alone, to be used with the target, or an ordinary model."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import save_torch_state_dict

from sequoia.distill.shards import Shard
from sequoia.models.layer_draft import FREQUENT, LAYERS, Identity

_MOST_BYTES = "12MB"  # of a file


def write_layers(
    folder: Path, draft: Any, identity: Identity, frequent: torch.Tensor | None
) -> None:
    """Write the layers of `draft` in bfloat16 to `folder`. frequent: the only tokens that it may
    draw, None for all."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{LAYERS}{name}": weight.detach().to(torch.bfloat16).cpu()
        for name, weight in draft.model.layers.state_dict().items()
    }
    if frequent is not None:
        tensors[FREQUENT] = frequent
    save_torch_state_dict(tensors, folder, max_shard_size=_MOST_BYTES)
    draft.config.save_pretrained(folder)
    identity.write(folder)


def write_whole(folder: Path, draft: Any, tokenizer: Any, dtype: torch.dtype) -> None:
    """Write `draft` to `folder` as an ordinary model, with copies of the weights that it shares
    with the target."""
    deepcopy(draft).to(dtype).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def most_frequent(folder: Path, count: int, vocab: int) -> torch.Tensor:
    """The ids, in increasing order, of the `count` most frequent tokens in the shards in `folder`.
    Among equally frequent ones, those with lower ids come first."""
    seen = torch.zeros(vocab, dtype=torch.long)
    for path in folder.glob("*.safetensors"):
        seen += Shard(path).counts(vocab)
    return seen.argsort(descending=True, stable=True)[:count].sort().values
