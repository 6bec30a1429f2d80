"""The text of a training run as token ids, in files of the run's folder.

The files are train.u16, held-KIND.u16 for each kind of text, and text.json. The last one has the
kinds, the tokenizer's fingerprint, and further notes.
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
    """A training text as token ids. train: the tokens to train on, (tokens,) uint16. held: the
    held-out tokens of each kind of text. manifest: the content of text.json."""

    train: np.ndarray
    held: Mapping[str, np.ndarray]
    manifest: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the tokens to train on."""
        return hashlib.sha256(self.train.data).hexdigest()


def write(
    out: Path,
    tokenizer: PreTrainedTokenizerBase,
    train: Sequence[str],
    held: Mapping[str, Sequence[str]],
    notes: Mapping[str, Any],
) -> Encoded:
    """Encode the texts and write them to the folder `out`. notes: further values for text.json.
    That file is written last, so a folder that has it is complete."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    encode(tokenizer, train).tofile(out / TRAIN)
    for kind, texts in held.items():
        encode(tokenizer, texts).tofile(out / f"held-{kind}.u16")
    manifest = {"tokenizer": fingerprint(tokenizer), "held": sorted(held), **notes}
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return read(out, tokenizer)


def read(out: Path, tokenizer: PreTrainedTokenizerBase) -> Encoded:
    """The text that `write` wrote to `out`. Raises BadTraining if one of its files is missing or
    cannot be read, or if it was encoded with another tokenizer."""
    try:
        manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
        train = np.memmap(out / TRAIN, np.uint16, "r")
        held = {
            kind: np.frombuffer((out / f"held-{kind}.u16").read_bytes(), np.uint16)
            for kind in manifest["held"]
        }
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
