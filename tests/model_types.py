"""Tests which causal model types of `transformers` can run a token tree.

Each type is tested with toy models of its default config and of variants of it. A toy pair is
loaded, decodes with a tree, and its output is compared with that of `transformers`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from toy_models import CONTEXT, noisy, random_model, save, toy_config
from toy_variants import variants
from transformers import AutoModelForCausalLM
from transformers.utils import logging as transformers_logging

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import plain
from sequoia.errors import SequoiaError
from sequoia.exactness.same_tokens import compare
from sequoia.loading.load import load_pair
from sequoia.loading.model_checks import check_source
from sequoia.measuring.defaults import speculate
from sequoia.models.compare_logits import SampleText, Walk, own_logits
from sequoia.models.compare_logits import distances as apart
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

FAULTS = ("differs", "crashed")
TOKENS = 20  # maximum number of tokens to decode; the prompt fills the rest of the context
TREE = Tree.kary(2, 3)
TOLERANCE = 1e-4  # allowed difference of float32 logits, divided by their standard deviation
_PARTS = 13  # tokens per pass when a text is given to the model in parts
_SPAN = 7  # positions of a Walk after its prefix


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


def outcomes(kind: str) -> dict[str, Outcome]:
    """The outcome of each variant of the type `kind`, by the variant's name. A type without a valid
    toy config has one outcome, that of "base"."""
    torch.set_num_threads(1)
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        every = variants(kind)
    except Exception as problem:  # raised by the type's own validation
        return {"base": Outcome("no config", _words(problem))}
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: try_config(kind, changes, Path(folder, str(number)))
            for number, (name, changes) in enumerate(every.items())
        }


def faults(found: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes of variants that decode wrongly or crash."""
    return {name: one for name, one in found.items() if one.status in FAULTS}


# -- one config ------------------------------------------------------------------------------------


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
        _try_pass(model)
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


@torch.inference_mode()
def _try_pass(model: Any) -> None:
    """Raises whatever the code of a model raises in a pass over a short text."""
    model(input_ids=torch.arange(8)[None], use_cache=False)


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


def distances(model: TreeModel, hf: Any, text: Sequence[int]) -> list[float]:
    """The largest differences between the logits of `model` and those of `hf`, a model of
    `transformers`, in standard deviations of the latter: after several prefixes of `text`, in each
    pass of a Walk, and at the end of each part when `model` gets `text` in parts."""
    reference = TreeModel(hf, "transformers")
    reference.vocab = model.vocab
    sample = SampleText(text, model.vocab)
    found = []
    for prefix in {1, len(text) // 2, len(text) - _SPAN}:
        walk = Walk(prefix, TREE, len(TREE) - 1)
        tokens = walk.tokens(sample.piece(walk.places, 0))
        found.append(apart(walk.logits(model, tokens), walk.bare_logits(reference, tokens)))
    context = model.open(len(text))
    for start in range(0, len(text), _PARTS):
        got = context.extend(text[start : start + _PARTS])
        wanted = own_logits(reference, text[: start + _PARTS])
        found.append(apart(got[None], wanted[None]))
    return [float(one.max()) for one in found]


def _words(problem: Exception) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}"
