"""Converts text to token ids, with a tokenizer that is trained here or one loaded from a folder.

The one trained here is a byte-level BPE for code. A newline and the spaces that follow usually
become a single token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from ..errors import BadTraining
from .recipe import whole

END = "<|endoftext|>"
SPLIT = r"\n[ ]*| ?[A-Za-z]+| ?[0-9]| ?[^\sA-Za-z0-9]+|[ ]+|\s+"
VOCAB = 4096
MIN_VOCAB = 257  # 256 bytes and END
MAX_VOCAB = 65_536  # ids are saved as 16-bit integers
CONTEXT = 2048
BATCH = 256  # texts encoded at a time


def train_tokenizer(texts: Sequence[str], vocab: int = VOCAB) -> PreTrainedTokenizerFast:
    """A tokenizer with `vocab` tokens, or fewer if `texts` contain no more pairs to merge. END has
    id 0 and is used as bos, eos and padding."""
    whole("vocabulary", vocab, MIN_VOCAB, MAX_VOCAB)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer, length=len(texts))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END,
        eos_token=END,
        pad_token=END,
        model_max_length=CONTEXT,
    )


def load_tokenizer(folder: Path | str) -> PreTrainedTokenizerBase:
    """The tokenizer in a local folder. Raises BadTraining if there is none, if it has no
    end-of-text token, or if its ids do not fit in 16 bits."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError) as error:
        raise BadTraining(f"no tokenizer in {str(folder)[:200]!r}: {str(error)[:200]}") from None
    whole("vocabulary of the given tokenizer", len(tokenizer), 2, MAX_VOCAB)
    if tokenizer.eos_token_id is None:
        raise BadTraining(
            f"the tokenizer in {str(folder)[:200]!r} has no end-of-text token, which is needed to "
            "separate texts"
        )
    return tokenizer


def encode(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> np.ndarray:
    """The token ids of all texts, (tokens,) uint16, with an end-of-text token before each text."""
    parts = [np.fromiter(ids, np.uint16) for ids in _ids(tokenizer, texts)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint16)


def _ids(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> Iterator[list[int]]:
    for start in range(0, len(texts), BATCH):
        some = list(texts[start : start + BATCH])
        encoded = tokenizer(
            some, add_special_tokens=False, return_attention_mask=False, verbose=False
        )
        yield from ([tokenizer.eos_token_id, *ids] for ids in encoded["input_ids"])


def fingerprint(tokenizer: PreTrainedTokenizerBase) -> str:
    """A SHA-256 that is equal for two tokenizers if and only if they have the same tokens with the
    same ids, and the same end-of-text token."""
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return hashlib.sha256(repr((pieces, tokenizer.eos_token_id)).encode()).hexdigest()
