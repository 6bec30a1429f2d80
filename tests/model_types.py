"""Tests which causal model types of `transformers` can run a token tree.

Each type is tested with toy models of its default config and of variants of it. A toy pair is
loaded, decodes with a tree, and its output is compared with that of `transformers`. As a program,
it writes the list that the page shows anew: `PYTHONPATH=.:tests python tests/model_types.py`. That
takes many minutes.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from toy_models import CONTEXT, kinds, noisy, random_model, save, toy_config
from toy_variants import condition, variants
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
from sequoia.loading.model_families import FILE, ModelType
from sequoia.measuring.defaults import speculate
from sequoia.models.compare_logits import SampleText, Walk, own_logits
from sequoia.models.compare_logits import distances as apart
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

FAULTS = ("differs", "crashed")
_NOT_BUILT = ("no config", "no model")
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


def main() -> None:
    """Test all types, print a line for each, and write the list of them. Raises AssertionError if a
    model decodes wrongly or crashes; then no list is written."""
    found = {}
    for kind in kinds():
        found[kind] = outcomes(kind)
        print(f"{kind}: {_counted(one.status for one in found[kind].values())}", flush=True)
        for name, one in found[kind].items():
            if one.status in (*FAULTS, *_NOT_BUILT):
                print(f"  {name}: {one.status}, {one.words}")
    types = [summary(kind, one, _condition(kind)) for kind, one in found.items()]
    print(_counted(one.result for one in types))
    assert not any(map(faults, found.values())), "some decoded wrongly or crashed"
    rows = [asdict(one) for one in types]
    content = {"transformers": transformers.__version__, "types": rows}
    FILE.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


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


def _counted(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(Counter(words).items()))


# -- the list --------------------------------------------------------------------------------------


def summary(kind: str, found: Mapping[str, Outcome], condition: str) -> ModelType:
    """The entry of the type `kind` in the list of types (see model_families.py). found: the outcome
    of each variant, by name; "base" is the default config. condition: the name of the
    variant that makes the model causal, or gives every layer full attention (see
    `toy_variants.condition`); empty if there is none."""
    base = found["base"]
    result = _result(base, found.get(condition, base))
    if result not in ("runs", "partly"):
        return ModelType(kind, result, base.words, without=_still_refused(found, condition))
    needed = condition if result == "partly" else ""
    return ModelType(kind, result, base.words, needed, _without(found, condition))


def faults(found: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes of variants that decode wrongly or crash."""
    return {name: one for name, one in found.items() if one.status in FAULTS}


def _condition(kind: str) -> str:
    try:
        return condition(kind)[0]
    except Exception:  # the type's own validation fails: it has no toy config
        return ""


def _result(base: Outcome, changed: Outcome) -> str:
    """base: the outcome of the default config. changed: that of the condition, or `base` if there
    is none."""
    if base.status in _NOT_BUILT:
        return "not built"
    if base.status == "runs":
        return "runs"
    return "partly" if changed.status == "runs" else "refused"


def _still_refused(found: Mapping[str, Outcome], condition: str) -> tuple[tuple[str, str], ...]:
    """One pair (condition, message) if both the base and the condition are refused, for different
    reasons. Otherwise empty."""
    base, changed = found["base"], found.get(condition)
    if changed is None or (base.status, changed.status) != ("refused", "refused"):
        return ()
    return ((condition, changed.words),) if changed.words != base.words else ()


def _without(found: Mapping[str, Outcome], condition: str) -> tuple[tuple[str, str], ...]:
    """(name, message) of each refused variant other than the base and the condition."""
    others = ((name, one) for name, one in found.items() if name not in ("base", condition))
    return tuple((name, one.words) for name, one in others if one.status == "refused")


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


if __name__ == "__main__":
    main()
