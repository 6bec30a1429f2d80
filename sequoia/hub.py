"""A pair by name, or of two models given by folder or Hugging Face id: checked, loaded, tried.

Everything that can be refused is refused with its reason: before the weights where the config tells (see checks.py), after them
by a self-test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging as transformers_logging

from .acceptance import Acceptance
from .checks import Source, check_source, checked_device, checked_dtype, matching_tokenizer, refused
from .dtype import MEASURED_UP_TO, best_dtype, lean_dtype
from .errors import BadModel, BadPair
from .guarded import shown
from .memory import require
from .models import TreeModel, self_test
from .pair import Pair

ASSETS = Path(__file__).resolve().parent.parent / "assets"
BUNDLED = ASSETS / "pair"
_BYTES_TO_CHOOSE = 16  # a parameter: the file as it is, both copies to choose from, and the weights of each laid out anew
_ROWS = (16, 2)  # of a usual pass of the target and of the draft


def load_pair(name: str = "bundled", *, draft: str | None = None, target: str | None = None, device: str = "auto",
              dtype: str = "auto") -> Pair:
    """The pair called `name`, or the one of two given models (local folders or Hugging Face ids), checked and ready to decode.

    device: "auto" (CUDA where there is one), "cpu", "cuda", "cuda:1"... dtype: "auto" (the faster one for each model on this
    machine), "float32", "bfloat16" or "float16". Raises BadModel, BadPair or OutOfMemory with the reason.
    """
    if (draft is None) != (target is None):
        raise BadPair(f"a draft and a target come together; given were draft={shown(draft)} and target={shown(target)}")
    if target is None and name != "bundled":
        raise BadModel(f"unknown pair {shown(name)}; known is 'bundled', others are named by draft= and target=")
    transformers_logging.disable_progress_bar()
    bundled = target is None
    sources = [check_source(str(BUNDLED / which) if bundled else ref) for which, ref in (("target", target), ("draft", draft))]
    tokenizer = matching_tokenizer(*(source.name for source in sources))
    where, kinds = checked_device(device), checked_dtype(dtype)
    check_memory(sum(loaded_bytes(source, where, kinds) for source in sources), where)
    big, small = (load_model(source, where, kinds, draft) for source, draft in zip(sources, (False, True), strict=True))
    same_vocabulary(big, small, len(tokenizer))
    return Pair("bundled" if bundled else f"{big.name} + {small.name}", big, small, tokenizer,
                begin=(tokenizer.bos_token_id,) if bundled else (), stop=stop_tokens(big.hf, tokenizer),
                known=known_acceptance(BUNDLED / "acceptance.json") if bundled else ())


def loaded_bytes(source: Source, device: torch.device, dtypes: tuple[torch.dtype, ...]) -> int:
    """Bytes of the weights once loaded: float32 made of a bfloat16 file takes twice the file."""
    stored = getattr(source.config.get_text_config(), "dtype", None) or torch.float32
    used = dtypes[0] if dtypes else lean_dtype(device)
    if not dtypes and device.type == "cpu" and source.weight_bytes // stored.itemsize <= MEASURED_UP_TO:
        return _BYTES_TO_CHOOSE * source.weight_bytes // stored.itemsize
    return source.weight_bytes * max(used.itemsize, stored.itemsize) // stored.itemsize


def check_memory(weight_bytes: int, device: torch.device) -> None:
    """OutOfMemory where the weights, and a tenth for everything else, exceed what is free."""
    require(weight_bytes * 1.1, device, "the two models need")


def load_model(source: Source, device: torch.device, dtypes: tuple[torch.dtype, ...], draft: bool) -> TreeModel:
    """Weights from safetensors in the given number type, or the one that runs a usual pass fastest; self-tested."""
    hf = refused(BadModel, f"cannot load {source.name!r}", lambda: AutoModelForCausalLM.from_pretrained(
        source.name, dtype=dtypes[0] if dtypes else "auto", use_safetensors=True, attn_implementation="sdpa",
        trust_remote_code=False).to(device))  # pyright: ignore[reportArgumentType]
    name = Path(source.name).name if Path(source.name).is_dir() else source.name
    return refused(BadModel, f"{name} cannot run a tree", lambda: _tested(hf, name, dtypes, draft))


def _tested(hf: Any, name: str, dtypes: tuple[torch.dtype, ...], draft: bool) -> TreeModel:
    model = TreeModel(hf, name).quicken() if dtypes else best_dtype(hf, name, _ROWS[draft], draft)
    self_test(model)
    return model


def same_vocabulary(target: TreeModel, draft: TreeModel, pieces: int) -> None:
    """Cut rows that only pad the vocabulary, so that both models speak of the same tokens."""
    if min(target.vocab, draft.vocab) < pieces:
        raise BadPair(f"the tokenizer has {pieces} pieces, but the models know {target.vocab} and {draft.vocab}")
    target.vocab = draft.vocab = min(target.vocab, draft.vocab)


def stop_tokens(hf: Any, tokenizer: Any) -> frozenset[int]:
    """End-of-text ids from the generation config and the tokenizer; a model without any never ends by itself."""
    configured = getattr(hf.generation_config, "eos_token_id", None)
    ids = configured if isinstance(configured, list) else [configured]
    return frozenset(int(token) for token in (*ids, tokenizer.eos_token_id) if token is not None)


def known_acceptance(path: Path) -> tuple[tuple[float, Acceptance], ...]:
    """Shipped acceptance vectors by temperature; none where the file is missing."""
    if not path.is_file():
        return ()
    rows = json.loads(path.read_text(encoding="utf-8"))["measured"]
    return tuple((float(row["temperature"]), Acceptance(tuple(row["rates"]))) for row in rows)
