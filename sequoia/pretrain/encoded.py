"""The text of a training run as token ids: written to its folder once, then read as a memory map.

The files: train.u16, held-KIND.u16 for each kind of text, and text.json with the counts by source
and the tokenizer's fingerprint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from transformers import PreTrainedTokenizerBase

from ..errors import BadTraining
from .tokenizer import encode, fingerprint

MANIFEST = "text.json"
TRAIN = "train.u16"


@dataclass(frozen=True)
class Encoded:
    """train: (tokens,) uint16 to train on. held: held-out tokens by kind of text. manifest: the
    contents of text.json."""

    train: np.ndarray
    held: Mapping[str, np.ndarray]
    manifest: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.train.data).hexdigest()


def write(
    out: Path,
    tokenizer: PreTrainedTokenizerBase,
    train: Sequence[str],
    held: Mapping[str, Sequence[str]],
    notes: Mapping[str, Any],
) -> Encoded:
    """Encode and write the texts. text.json is written last, so a folder that has it is
    complete."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    encode(tokenizer, train).tofile(out / TRAIN)
    for kind, texts in held.items():
        encode(tokenizer, texts).tofile(out / f"held-{kind}.u16")
    manifest = {"tokenizer": fingerprint(tokenizer), "held": sorted(held), **notes}
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1))
    return read(out, tokenizer)


def read(out: Path, tokenizer: PreTrainedTokenizerBase) -> Encoded:
    """The text that `write` wrote; raises BadTraining if there is none or it was encoded with
    another tokenizer."""
    try:
        manifest = json.loads((out / MANIFEST).read_text())
        train = np.memmap(out / TRAIN, np.uint16, "r")
        held = {kind: np.fromfile(out / f"held-{kind}.u16", np.uint16) for kind in manifest["held"]}
        mark = manifest["tokenizer"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadTraining(
            f"no prepared text in {str(out)[:200]!r}: {str(error)[:200]}; run the step `text`"
        ) from None
    if mark != fingerprint(tokenizer):
        raise BadTraining(
            f"the text in {str(out)[:200]!r} was encoded with another tokenizer; run the step "
            "`text` again"
        )
    return Encoded(train, held, manifest)
