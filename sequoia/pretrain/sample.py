"""Texts for a draft to learn from: the target continues pieces of real text at several
temperatures.

The texts are rows of a file. They are appended in batches, so sampling can be stopped and resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from .feed import BLOCK, Feed

TEMPERATURES = (0.3, 0.6, 0.8, 1.0)
PROMPT = 64  # tokens of real text at the start of each row
ROWS = 128  # rows in a batch


@torch.no_grad()
def continued(
    model: PreTrainedModel,
    prompts: torch.Tensor,
    length: int,
    temperatures: torch.Tensor,
    random: torch.Generator,
) -> torch.Tensor:
    """`prompts` (rows, tokens), continued to (rows, length), int64, by sampling from `model`.
    temperatures: (rows, 1), one for each prompt."""
    cache = DynamicCache()
    rows = prompts
    new = prompts
    while rows.shape[1] < length:
        logits = model(
            input_ids=new, past_key_values=cache, use_cache=True, logits_to_keep=1
        ).logits
        p = (logits[:, -1].float() / temperatures).softmax(-1)  # (rows, vocab)
        new = torch.multinomial(p, 1, generator=random)
        rows = torch.cat([rows, new], 1)
    return rows


def extend(
    path: Path, model: PreTrainedModel, feed: Feed, width: int, tokens: int, seed: int
) -> Iterator[int]:
    """Append batches of rows of `width` tokens to the file at `path` until it contains at least
    `tokens` tokens. Yields the number of tokens in the file after each batch. Batch number i
    depends only on `model`, `feed`, `width`, `seed` and i. An incomplete batch in the file is
    removed first."""
    batch = ROWS * width
    path.touch()
    with path.open("r+b") as file:
        done = file.seek(0, 2) // 2 // batch
        file.truncate(done * batch * 2)
        file.seek(0, 2)
        while done * batch < tokens:
            file.write(_batch(model, feed, width, seed, done).numpy().astype(np.uint16).tobytes())
            file.flush()
            done += 1
            yield done * batch


def _batch(model: PreTrainedModel, feed: Feed, width: int, seed: int, number: int) -> torch.Tensor:
    random = torch.Generator(model.device).manual_seed(seed * 1_000_003 + number)
    prompts = feed.take(number * ROWS * BLOCK, ROWS, BLOCK)[:, :PROMPT].to(model.device)
    temperatures = torch.tensor(TEMPERATURES, device=model.device).repeat(
        ROWS // len(TEMPERATURES)
    )[:, None]
    return continued(model, prompts, width, temperatures, random).cpu()


def read(path: Path, width: int) -> np.ndarray | None:
    """The texts in the file at `path`, (texts, width) uint16, or None if there are none."""
    if not path.exists():
        return None
    flat = np.fromfile(path, np.uint16)
    rows = flat[: len(flat) // width * width].reshape(-1, width)
    return rows if len(rows) else None
