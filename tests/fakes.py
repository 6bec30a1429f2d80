"""Tiny pairs of real `transformers` classes for tests, with random weights and a real tokenizer.
They are saved to files, and `load_pair` itself loads them.

    tiny_pair(kind, dtype=, seed=, vocab=, noise=, kv_heads=, context=, layers=, stop=)
                         the draft is a noisy copy of the target
    same_pair(...)       the draft is the target
    hopeless_pair(...)   the draft's logits are the target's with the opposite sign
    made_profile(...)    the times of a machine that was made up

Calls with the same arguments share their weights, which are loaded once. But each call returns a
new Pair with new TreeModels, so what one test measures or sets on them does not affect another. A
test that changes weights must copy them first.
"""

from __future__ import annotations

import copy
import dataclasses
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from transformers.utils import logging as transformers_logging

from sequoia.algorithm.tree import Tree
from sequoia.loading.load import load_pair
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.pair import Pair, PairCache
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile

KINDS = ("llama", "qwen2", "qwen3", "gpt_neox", "gpt2")
# called this because some tokenizer classes add a token of this name if the vocabulary lacks it
EOS = "<|endoftext|>"
BOS = "<|begin|>"
VOCAB = 288
WIDTH = 32
LAYERS = 2
HEADS = 4
# Relative to the standard deviation of each weight tensor. With this noise, at temperature 0, the
# root's first child is accepted in at least half of the steps.
NOISE = 0.05
PROMPTS = ("def add(a, b):\n    return", "Hello, wörld! 你好 🙂", "x")

_LLAMA_LIKE = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "mistral": (MistralConfig, MistralForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}


def tiny_pair(
    kind: str = "llama",
    dtype: str = "float32",
    seed: int = 0,
    vocab: int = VOCAB,
    *,
    noise: float = NOISE,
    kv_heads: int = 2,
    context: int = 512,
    layers: int = LAYERS,
    stop: frozenset[int] | None = None,
) -> Pair:
    """A pair whose draft is its target with `noise` added to every weight. `stop` replaces the
    end-of-text ids of the pair."""
    loaded = _loaded_pair(kind, dtype, seed, vocab, noise, kv_heads, context, layers)
    return _another(loaded, stop)


@cache
def _loaded_pair(
    kind: str,
    dtype: str,
    seed: int,
    vocab: int,
    noise: float,
    kv_heads: int,
    context: int,
    layers: int,
) -> Pair:
    target = tiny_model(kind, seed, vocab, kv_heads, context, layers)
    return pair_of(target, noisy(target, noise, seed), tiny_tokenizer(vocab), dtype)


def _another(pair: Pair, stop: frozenset[int] | None) -> Pair:
    """A new pair of the same weights."""
    return dataclasses.replace(
        pair,
        target=copy.copy(pair.target),
        draft=copy.copy(pair.draft),
        measured=PairCache(),
        stop=pair.stop if stop is None else stop,
    )


def same_pair(
    kind: str = "llama",
    dtype: str = "float32",
    seed: int = 0,
    vocab: int = VOCAB,
    **options: object,
) -> Pair:
    """A pair whose draft equals its target, weight by weight."""
    return tiny_pair(kind, dtype, seed, vocab, noise=0.0, **options)


def hopeless_pair(
    kind: str = "llama",
    dtype: str = "float32",
    seed: int = 0,
    vocab: int = VOCAB,
    *,
    kv_heads: int = 2,
    context: int = 512,
    stop: frozenset[int] | None = None,
) -> Pair:
    """A pair whose draft prefers the tokens that its target finds least probable."""
    return _another(_loaded_hopeless_pair(kind, dtype, seed, vocab, kv_heads, context), stop)


@cache
def _loaded_hopeless_pair(
    kind: str, dtype: str, seed: int, vocab: int, kv_heads: int, context: int
) -> Pair:
    target = tiny_model(kind, seed, vocab, kv_heads, context)
    return pair_of(target, negated(target), tiny_tokenizer(vocab), dtype)


def made_profile(**changes: object) -> HardwareProfile:
    """A simulated machine on which a target pass takes 1 s and a draft pass 0.1 s, with `changes`
    to its fields."""
    usual: dict[str, Any] = {
        "device": "one card",
        "dtype": "float16",
        "target": "large",
        "draft": "small",
        "prefix_length": 128,
        "target_seconds": ((1, 1.0, 0.0),),
        "draft_seconds": ((1, 0.1, 0.0),),
        "source": "simulated",
        "date": "2025-01-31",
    }
    return HardwareProfile(**usual | changes)


# -- parts -----------------------------------------------------------------------------------------


def tiny_model(
    kind: str = "llama",
    seed: int = 0,
    vocab: int = VOCAB,
    kv_heads: int = 2,
    context: int = 512,
    layers: int = LAYERS,
    head_dim: int = WIDTH // HEADS,
) -> torch.nn.Module:
    """A random causal LM of `kind` in float32 whose next-token distributions are neither flat nor
    one-hot."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        # Transformers changes the default dtype of all threads while it reads weights in one.
        model = _blank(kind, vocab, kv_heads, context, layers, head_dim).float()
        for name, weight in model.named_parameters():
            with torch.no_grad():
                _draw(name, weight)
    return model.eval()


def _blank(
    kind: str, vocab: int, kv_heads: int, context: int, layers: int, head_dim: int
) -> torch.nn.Module:
    shared = {"vocab_size": vocab, "eos_token_id": 0, "bos_token_id": 1, "pad_token_id": None}
    if kind == "gpt2":
        return GPT2LMHeadModel(
            GPT2Config(n_embd=WIDTH, n_layer=layers, n_head=HEADS, n_positions=context, **shared)
        )
    sizes = {
        "hidden_size": WIDTH,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "intermediate_size": 2 * WIDTH,
        "max_position_embeddings": context,
        **shared,
    }
    if kind == "gpt_neox":
        return GPTNeoXForCausalLM(GPTNeoXConfig(rotary_pct=0.5, **sizes))
    config, model = _LLAMA_LIKE[kind]
    return model(
        config(
            num_key_value_heads=kv_heads,
            head_dim=head_dim,
            tie_word_embeddings=kind == "qwen2",
            **sizes,
        )
    )


def _draw(name: str, weight: torch.Tensor) -> None:
    """Random weights that keep activations near 1, make positions matter, and give logits a spread
    of about 2."""
    if weight.dim() == 1:
        weight.add_(torch.randn_like(weight), alpha=0.1)
    elif "embed" in name or "wte" in name or "wpe" in name:
        weight.normal_(std=0.4)
    else:
        weight.normal_(std=2 / WIDTH**0.5)


def noisy(model: torch.nn.Module, noise: float, seed: int = 0) -> torch.nn.Module:
    """A copy with normal noise added to every weight, `noise` times the standard deviation of its
    tensor."""
    copied = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for weight in copied.parameters():
            weight.add_(
                torch.randn(weight.shape, generator=generator), alpha=noise * float(weight.std())
            )
    return copied


def negated(model: torch.nn.Module) -> torch.nn.Module:
    """A copy with all logits of the opposite sign: the last normalisation is negated."""
    copied = copy.deepcopy(model)
    last = [
        module
        for name, module in copied.named_modules()
        if name.endswith(("model.norm", "final_layer_norm", "ln_f"))
    ]
    with torch.no_grad():
        for weight in last[-1].parameters():
            weight.neg_()
    return copied


def tiny_tokenizer(vocab: int = VOCAB, pieces: tuple[str, ...] = ()) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer of `vocab` pieces: two special ones, single bytes, then merges of two
    letters.

    With fewer than 258 pieces some bytes have no token; lower-case letters come first. `pieces`
    replaces the last pieces, so that tests can make tokenizers that differ.
    """
    alphabet = sorted(
        pre_tokenizers.ByteLevel.alphabet(), key=lambda piece: (not piece.islower(), piece)
    )
    letters = [a + b for a in "etaoinsrhl" for b in "etaoinsrhl"]
    names = [*[EOS, BOS, *alphabet, *letters][: vocab - len(pieces)], *pieces]
    merges = [(piece[0], piece[1]) for piece in names[2:] if piece in letters]
    core = Tokenizer(models.BPE({piece: i for i, piece in enumerate(names)}, merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token=EOS, bos_token=BOS)


def save(
    model: torch.nn.Module, folder: Path, tokenizer: PreTrainedTokenizerFast | None = None
) -> str:
    """Save model and tokenizer as `load_pair` expects them. Returns the folder's name."""
    transformers_logging.disable_progress_bar()
    model.save_pretrained(folder)
    (tokenizer or tiny_tokenizer(model.config.vocab_size)).save_pretrained(folder)
    return str(folder)


def pair_of(
    target: torch.nn.Module,
    draft: torch.nn.Module,
    tokenizer: PreTrainedTokenizerFast,
    dtype: str = "float32",
    stop: frozenset[int] | None = None,
) -> Pair:
    """The two models, saved, then loaded and checked by `load_pair`. It does not offer float64, so
    for float64 the models are loaded in float32 and then converted."""
    with tempfile.TemporaryDirectory() as folder:
        target_ref, draft_ref = (
            save(model, Path(folder) / name, tokenizer)
            for name, model in (("target", target), ("draft", draft))
        )
        pair = load_pair(
            draft=draft_ref,
            target=target_ref,
            device="cpu",
            dtype="float32" if dtype == "float64" else dtype,
        )
    if dtype == "float64":
        pair = dataclasses.replace(pair, target=_doubled(pair.target), draft=_doubled(pair.draft))
    return pair if stop is None else dataclasses.replace(pair, stop=stop)


def _doubled(model: TreeModel) -> TreeModel:
    wide = TreeModel(model.hf.double(), model.name)
    wide.vocab = model.vocab
    return wide


BUSHY = Tree.from_branching([3, 2, 2])


def tree_logits(model: TreeModel) -> torch.Tensor:
    """(rows, vocab) logits of three passes: over a prompt (last token only), over a tree after it,
    and, after one path of the tree is kept, over two more tokens (last token only)."""
    context = model.open(64)
    first = context.extend([3, 1, 4, 1, 5, 9, 2, 6])
    tree = context.forward([7 + i for i in range(len(BUSHY))], TreeLayout(context, BUSHY))
    context.keep(BUSHY.path(len(BUSHY) - 1))
    return torch.cat((first[None], tree, context.extend([11, 12])[None]))
