"""Tests one toy pair, which is a target and a draft with random weights. Loads it, decodes with a
tree, and compares the output with that of `transformers`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import plain
from sequoia.errors import SequoiaError
from sequoia.exactness.same_tokens import compare
from sequoia.loading.load import load_pair
from sequoia.loading.model_checks import check_source
from sequoia.measuring.defaults import speculate
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.sweep.toy_configs import CONTEXT, toy_config
from sequoia.sweep.toy_models import noisy, random_model, save

TOKENS = 20  # maximum number of tokens to decode; the prompt fills the rest of the context
TREE = Tree.kary(2, 3)
TOLERANCE = 1e-4  # allowed difference of float32 logits, divided by their standard deviation
_PARTS = 13  # tokens per pass when a text is given to the model in parts


@dataclass(frozen=True)
class Outcome:
    """The outcome of one toy config.

    status: "runs"; "no config": the config fails its own validation; "no model": `transformers`
    cannot build or run the model, or the model would be too large; "refused": this program refuses
    the config or the model. Two statuses are faults: "crashed", and "differs" (from
    `transformers`). words: the error message or the difference, "" if the pair runs. distance: the
    largest difference of logits, divided by their standard deviation. accepted: number of accepted
    draft tokens.
    """

    status: str
    words: str = ""
    distance: float = 0.0
    accepted: int = 0


def try_config(kind: str, changes: Mapping[str, Any], folder: Path) -> Outcome:
    """Build one toy pair in `folder`, load it, decode with it and compare. kind: the model type,
    such as "llama". changes: new values of fields of the toy config."""
    try:
        config = toy_config(kind, changes)
    except Exception as problem:  # raised by some library's validation
        return Outcome("no config", _words(problem))
    if refusal := _refused_config(kind, config, folder / "config"):
        return Outcome("refused", refusal)
    try:
        model = random_model(config)
        _last_logits(model, range(8))
    except Exception as problem:  # TooLarge, or an error in any library
        return Outcome("no model", _words(problem))
    target = save(model, config, folder / "target" / kind)
    draft = save(noisy(model), config, folder / "draft" / kind)
    try:
        pair = load_pair(
            target=target,
            draft=draft,
            device="cpu",
            dtype="float32",
            online=False,
            on_progress=lambda _: None,
        )
        return _compared(pair, target)
    except SequoiaError as problem:
        return Outcome("refused", _reason(kind, problem))
    except Exception as problem:
        return Outcome("crashed", _words(problem))


def _refused_config(kind: str, config: Any, folder: Path) -> str:
    """The message if the config is refused before any weights are loaded, otherwise ""."""
    config.save_pretrained(folder)
    try:
        check_source(kind, folder, weight_bytes=0)
    except SequoiaError as problem:
        return _reason(kind, problem)
    return ""


def _reason(kind: str, problem: SequoiaError) -> str:
    """The message of `problem` without the model's name (for a toy model, its type) and without
    measured figures. So the same reason always gives the same words."""
    words = re.sub(rf"^{re.escape(kind)}( \([\w-]+\))? ", "", str(problem))
    return re.sub(r" by [\d.e+-]+ standard deviations; the limit is [\d.e+-]+", "", words)


def _compared(pair: Pair, folder: str) -> Outcome:
    """Decode up to the end of the context, with a tree and without. Compare tokens and logits with
    those of `transformers` for the model in `folder`."""
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    length = min(pair.limit, CONTEXT)
    new = min(TOKENS, length // 2)
    prompt = ("0123456789" * CONTEXT)[: length - new]
    params = SamplingParams(max_new_tokens=new, ignore_eos=True)
    steps = list(speculate(pair, prompt, params, TREE))
    runs = {"tree": emitted_tokens(steps), "plain": emitted_tokens(plain(pair, prompt, params))}
    ids = list(pair.encode(prompt))
    own = generated(reference, ids, length)
    found = distances(pair.target, reference, [*ids, *own])
    distance = float(torch.tensor(found).max())  # NaN if any is NaN
    words = _difference(runs, own, distance)
    return Outcome("differs" if words else "runs", words, distance, new - len(steps))


def _difference(runs: Mapping[str, Sequence[int]], own: Sequence[int], distance: float) -> str:
    """How the tokens or logits differ from those of `transformers`, "" if they are the same. runs:
    the tokens of each way of decoding, by name. own: the tokens of `generate()`. distance: the
    largest difference of logits."""
    for name, tokens in runs.items():
        at = compare(tokens, own)
        if at is not None:
            return f"token {at + 1} of {name} decoding differs from that of generate()"
        if len(tokens) != len(own):
            return f"{name} decoding gives {len(tokens)} tokens, generate() {len(own)}"
    return "" if distance <= TOLERANCE else f"logits off by {distance:.2g} standard deviations"


@torch.inference_mode()
def generated(model: Any, ids: Sequence[int], length: int) -> list[int]:
    """The tokens that the greedy `generate()` of `transformers` appends to `ids`, up to a total
    length of `length` tokens."""
    model.generation_config.eos_token_id = None
    found = model.generate(
        torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids)).long(),
        max_length=length,
        do_sample=False,
        pad_token_id=0,
    )
    return found[0, len(ids) :].tolist()


def distances(model: TreeModel, reference: Any, text: Sequence[int]) -> list[float]:
    """Differences between the logits of `model` and those of `reference`, divided by the standard
    deviation of the latter. There are three comparisons: at the nodes of a tree after several
    prefixes of `text`; at a token after one of the tree's paths, which was kept in the KV cache;
    and at the end of each part when `model` gets `text` in parts."""
    found = []
    for prefix in {1, len(text) // 2, len(text) - TREE.levels}:
        found += _around(model, reference, text, prefix)
    context = model.open(len(text))
    for start in range(0, len(text), _PARTS):
        got = context.extend(text[start : start + _PARTS])
        found.append(_distance(got, _last_logits(reference, text[: start + _PARTS])))
    return found


def _around(model: TreeModel, reference: Any, text: Sequence[int], prefix: int) -> list[float]:
    """The differences at the nodes of a tree after the first `prefix` tokens of `text`, and at a
    token after one of the tree's paths, which was kept in the KV cache."""
    context = model.open(len(text) + len(TREE))
    context.extend(text[:prefix])
    tokens = [(7 * node + text[prefix]) % model.vocab for node in range(len(TREE))]
    logits = context.forward(tokens, whole_tree_layout(context, TREE))  # (nodes, vocab)
    paths = [
        [*text[:prefix], *(tokens[one] for one in TREE.path(node))] for node in range(len(TREE))
    ]
    found = [
        _distance(logits[node], _last_logits(reference, path)) for node, path in enumerate(paths)
    ]
    last = len(TREE) - 1
    context.keep(TREE.path(last)[:-1])
    after = paths[last][:-1]
    got = context.extend([5])
    return [*found, _distance(got, _last_logits(reference, [*after, 5]))]


@torch.inference_mode()
def _last_logits(reference: Any, text: Sequence[int]) -> torch.Tensor:
    """The logits (vocab,) that a model of `transformers` gives after the last token of `text`."""
    return reference(input_ids=torch.tensor([list(text)]), use_cache=False).logits[0, -1].double()


def _distance(got: torch.Tensor, wanted: torch.Tensor) -> float:
    wanted = wanted[: len(got)]
    return float((got.double() - wanted).abs().max() / wanted.std().clamp(min=1e-9))


def _words(problem: Exception) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}"
