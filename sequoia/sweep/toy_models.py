"""Toy models with random weights: a target, a draft that nearly agrees with it, and a tokenizer for
both."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from sequoia.sweep.toy_configs import VOCAB, WIDTH

MOST_PARAMETERS = 5_000_000
# noise in the draft, as a fraction of each tensor's standard deviation; small enough that the
# draft's first guess is often accepted
_NOISE = 0.03
_STOP = "<|endoftext|>"  # some tokenizer classes add a token of this name if it is missing
_START = "<|start|>"


class TooLarge(Exception):
    """The model of a toy config has more than MOST_PARAMETERS parameters."""


def random_model(config: Any, seed: int = 0) -> Any:
    """A model of `config` in float32 with random weights. Its logits have a standard deviation of
    about 2 and depend on positions. Raises TooLarge, or whatever the model's code raises."""
    _refuse_large(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        for name, weight in model.named_parameters():
            _draw(name, weight)
    return model


def _refuse_large(config: Any) -> None:
    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    size = sum(weight.numel() for weight in empty.parameters())
    if size > MOST_PARAMETERS:
        raise TooLarge(f"{size:,} parameters; a toy model has at most {MOST_PARAMETERS:,}")


@torch.no_grad()
def _draw(name: str, weight: torch.Tensor) -> None:
    if weight.dim() <= 1:
        weight.add_(torch.randn_like(weight), alpha=0.1)
    elif any(word in name for word in ("embed", "wte", "wpe")):
        weight.normal_(std=0.4)
    else:
        weight.normal_(std=2 / WIDTH**0.5)


def noisy(model: Any, seed: int = 1) -> Any:
    """A copy of `model` with a little noise added to every weight, for use as its draft."""
    copied = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in copied.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.add_(noise, alpha=_NOISE * float(weight.std(correction=0)))
    return copied


def toy_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer with one token for each byte, two special tokens, and unused tokens up to
    VOCAB."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [_STOP, _START, *alphabet]
    pieces += [f"<unused{number}>" for number in range(VOCAB - len(pieces))]
    core = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token=_STOP, bos_token=_START)


def save(model: Any, config: Any, folder: Path) -> str:
    """Write `model` and a tokenizer to `folder` as the Hugging Face hub stores them, and return the
    folder's path. config: replaces the config that `model` saves, because some model types save
    only the part for text."""
    model.save_pretrained(folder)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    toy_tokenizer().save_pretrained(folder)
    return str(folder)
