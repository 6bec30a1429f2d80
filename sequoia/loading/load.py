"""Loads a pair by name, or two models by folder or Hugging Face id.

A pair that cannot run is refused with the reason. Problems that the config or the files' headers
show are found before the weights are loaded (see model_checks.py). Other problems are found while
the weights are loaded, or by a self-test afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging as transformers_logging

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.progress import ShouldStop
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.errors import BadModel, BadPair, Stopped
from sequoia.loading.download import size
from sequoia.loading.find_pair import FoundPair, OnProgress, found_pair, printer
from sequoia.loading.large.load_large import placed, plan_large
from sequoia.loading.large.placement import HOST, OffloadPlacement, SpreadPlacement
from sequoia.loading.layer_drafts import layers_for, origin_words
from sequoia.loading.model_checks import PassedCheck, Source, checked_device, checked_dtype, refused
from sequoia.loading.pair_request import BUNDLED_NAME, LOOKUPS, PairRequest
from sequoia.loading.prompt_setup import with_prompts
from sequoia.loading.read_weights import Weights, read_weights, refuse_not_finite
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.memory_needs import PACKED_UP_TO
from sequoia.models.native.native_llama import has_native_forward
from sequoia.models.packed_llama import FAMILIES, PackedLlama
from sequoia.models.pair import SAME_WEIGHTS, Pair, RecordedAcceptance, same_weights
from sequoia.models.rounded_copy import ROUNDED, require_product, rounded_copy, rounded_copy_bytes
from sequoia.models.tree_forward import TreeModel
from sequoia.text_files import load_json
from sequoia.this_machine.dtypes import usual_dtype
from sequoia.this_machine.memory import ROOM, require, require_possible, total_bytes

# Parameters of the largest draft that is rounded to int8 on a CPU by default: its few rows are then
# read in two thirds of the time. Larger ones have not been timed.
_ROUNDED_UP_TO = 200_000_000
_Where = torch.device | SpreadPlacement | OffloadPlacement


def load_pair(
    name: str = BUNDLED_NAME,
    *,
    draft: str | None = None,
    target: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    offload: bool | int = False,
    online: bool | None = None,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop = lambda: False,
) -> Pair:
    """The pair called `name` (see pair_request.py), or the pair of the models `draft` and `target`,
    ready to decode. Models that are not on this machine are downloaded first. With draft="int8" or
    "int4", the draft is a copy of the target with its weights rounded (a folder of that name is
    ./int8); with draft="ngram" it is a lookup in the text, and no second model is loaded.

    For the first six arguments see PairRequest. online: whether to use the hub. None means yes
    unless HF_HUB_OFFLINE is set. on_progress: called with the progress of downloads, passed checks
    and sentences about the current step. By default, the progress of downloads is printed to
    standard error. should_stop: polled during downloads and before weights are loaded; True cancels
    the load. Raises BadModel, BadPair, NotDownloaded, OutOfMemory or Stopped with the reason.
    """
    request = PairRequest(name, target, draft, device, dtype, offload)
    return load(request, online, on_progress or printer(), should_stop)


def load(
    request: PairRequest,
    online: bool | None,
    on_progress: OnProgress,
    should_stop: ShouldStop = lambda: False,
) -> Pair:
    """`load_pair` with the arguments as one PairRequest."""
    where, dtype = _checked(request)
    transformers_logging.disable_progress_bar()
    with found_pair(request, online, on_progress, should_stop) as found:
        plan = _plan(found, request, where, dtype)
        found.fetch()
    draft_device = plan.output if plan else where
    hf = _read(found.target, plan or where, dtype, on_progress, should_stop)
    is_copy = request.derived in ROUNDED  # a copy must be made before the target is streamed
    copied = is_copy and rounded_copy(hf, request.derived, draft_device, shared=plan is None)
    target = _ready(hf, found.target, plan or where, dtype, False, on_progress)
    tokenizer = found.tokenizer
    if request.derived in LOOKUPS:
        return _with_lookup(target, tokenizer, request, on_progress)
    if found.draft is None:
        draft = _ready(copied, found.target, draft_device, dtype, True, on_progress)
    elif found.has_layers_only:
        draft = _layers(found.draft, target, tokenizer, draft_device, dtype, on_progress)
    else:
        hf = _read(found.draft, draft_device, dtype, on_progress, should_stop)
        draft = _ready(hf, found.draft, draft_device, dtype, True, on_progress)
    if same_weights(target, draft):
        on_progress(PassedCheck("draft", SAME_WEIGHTS))
    pieces = 1 + max(tokenizer.get_vocab().values())
    on_progress(PassedCheck("vocabulary", same_vocabulary(target, draft, pieces)))
    pair = _prompted(Pair("", target, draft, tokenizer), request, on_progress)
    return pair if request.derived or not request.has_bundled_target else _as_bundled(pair)


def _with_lookup(
    target: TreeModel, tokenizer: Any, request: PairRequest, on_progress: OnProgress
) -> Pair:
    """The pair of `target` and a lookup in the text."""
    draft = LOOKUPS[request.derived](target.vocab, target.limit)
    on_progress(PassedCheck("draft", f"no model: {draft.forward_words}"))
    return _prompted(Pair("", target, draft, tokenizer), request, on_progress)


def _prompted(bare: Pair, request: PairRequest, on_progress: OnProgress) -> Pair:
    """`bare` with its name and what its prompts and texts need."""
    named = replace(bare, name=f"{bare.target.name} + {bare.draft.name}")
    pair = with_prompts(named, on_progress)
    if request.has_bundled_target:
        pair = replace(pair, begin=(bare.tokenizer.bos_token_id,))
    return pair


def _as_bundled(pair: Pair) -> Pair:
    known = recorded_acceptances(BUNDLED_PAIR / "acceptance.json")
    return replace(pair, name=BUNDLED_NAME, known=known)


def _checked(request: PairRequest) -> tuple[torch.device, torch.dtype | None]:
    """The device and the dtype. Raises BadModel if they cannot be used, or if the draft would be a
    copy that the device cannot compute with."""
    where = checked_device(request.device)
    if request.derived in ROUNDED:
        require_product(request.derived, where)
    return where, checked_dtype(request.dtype)


def fetch(
    request: PairRequest,
    online: bool | None,
    on_progress: OnProgress,
    should_stop: ShouldStop = lambda: False,
) -> None:
    """Download everything that `load` needs, so that `load` then runs without a network.

    Raises the same errors as `load_pair`. The models must fit in the total memory of the devices
    that `load` would use. It does not matter how much is free now, because that can change before
    the pair is loaded.
    """
    where, dtype = _checked(request)
    with found_pair(request, online, on_progress, should_stop) as found:
        target, draft = (one * ROOM for one in _sizes(found, request, where, dtype))
        if request.streamed is False:
            several = request.device in ("auto", "spread")
            require_possible(target + draft, where, several, "the two models need")
        else:
            stored = found.target.stored_dtype
            is_converted = (dtype or usual_dtype(where, stored)) != stored
            # Host memory must hold all of the target's weights if they are converted, or if the
            # host is the device. Otherwise it holds only the streamed ones.
            resident = 0 if is_converted or where == HOST else total_bytes(where) - draft
            what = "the target's weights in host memory need"
            require_possible(target - resident, HOST, False, what)
        found.fetch()


def _plan(
    found: FoundPair,
    request: PairRequest,
    where: torch.device,
    dtype: torch.dtype | None,
) -> SpreadPlacement | OffloadPlacement | None:
    """The placement of a target that is to be spread or streamed. None if both models go to `where`
    entirely. Raises OutOfMemory if the two models do not fit, and BadModel if the target cannot be
    divided."""
    target = found.target
    draft = found.draft or target
    sizes = _sizes(found, request, where, dtype)
    plan = refused(
        BadModel,
        f"cannot divide {target.title}",
        lambda: plan_large(target, draft, sizes, request.device, where, dtype, request.streamed),
    )
    if plan is None:
        check_memory(sum(sizes), where)
    return plan


def _sizes(
    found: FoundPair, request: PairRequest, where: torch.device, dtype: torch.dtype | None
) -> list[int]:
    """Bytes of memory to load the target and the draft."""
    target = loaded_bytes(found.target, where, dtype)
    if found.draft:
        return [target, loaded_bytes(found.draft, where, dtype)]
    if request.derived in LOOKUPS:
        return [target, 0]
    used = dtype or usual_dtype(where, found.target.stored_dtype)
    config = found.target.config
    copied = rounded_copy_bytes(config, found.target.title, request.derived, where, used)
    return [target, copied]


def _read(
    source: Source,
    where: _Where,
    dtype: torch.dtype | None,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Any:
    """The model of `source` with its weights, on the devices of `where`, or on the CPU for an
    OffloadPlacement. With `dtype` None, they have the usual dtype of the device. Unused tensors are
    reported to `on_progress`."""
    if should_stop():
        raise Stopped(f"stopped before the weights of {source.title} were loaded")
    on_progress(f"loading the weights of {source.title}, {size(source.weight_bytes)}")
    device = where if isinstance(where, torch.device) else where.output
    used = dtype or usual_dtype(device, source.stored_dtype)
    devices = {"device_map": where.where} if isinstance(where, SpreadPlacement) else {}

    def read() -> Weights:
        weights = read_weights(source, used, **devices)
        if isinstance(where, torch.device):
            weights.hf.to(where)
        return weights

    weights = refused(BadModel, f"cannot load {source.title!r}", read)
    refuse_not_finite(weights.hf, source.title)
    if weights.unused:
        on_progress(
            PassedCheck(
                "unused tensors",
                f"{source.title} does not use these tensors in its files: {weights.unused}",
            )
        )
    return weights.hf


def _ready(
    hf: Any,
    source: Source,
    where: _Where,
    dtype: torch.dtype | None,
    draft: bool,
    on_progress: OnProgress,
) -> TreeModel:
    """The model `hf` of `source`, or a rounded copy of it, self-tested."""
    on_progress(f"testing the passes of {source.title}")
    model = refused(
        BadModel,
        f"{source.title} cannot run a tree",
        lambda: _tested(hf, source, where, dtype, draft),
    )
    _report(model, source, "draft" if draft else "target", on_progress)
    return model


def _report(model: TreeModel, source: Source, what: str, on_progress: OnProgress) -> None:
    place = ", ".join(filter(None, (str(model.device), model.placement)))
    attention = (
        "" if isinstance(model.forward, PackedLlama) else f" with {source.attention} attention"
    )
    words = (
        f"{source.title}: {model.numbers}, {model.forward_words}{attention}, "
        f"on {place}; {model.tested}"
    )
    on_progress(PassedCheck(what, words))


def _layers(
    source: Source,
    target: TreeModel,
    tokenizer: Any,
    where: torch.device,
    dtype: torch.dtype | None,
    on_progress: OnProgress,
) -> TreeModel:
    """The draft in `source`, which has only layers of its own."""
    hf = layers_for(source, target, tokenizer, where)
    on_progress(PassedCheck("draft", f"{source.title}: {origin_words(source, target, tokenizer)}"))
    return _ready(hf, source, where, dtype, True, on_progress)


def loaded_bytes(source: Source, device: torch.device, dtype: torch.dtype | None) -> int:
    """Bytes of memory needed to load the weights of `source` in `dtype`, None for the usual one of
    `device`. For example, a bfloat16 file loaded as float32 needs twice its size. A model that is
    small enough for a faster forward on a CPU needs room for two more copies: the packed weights of
    that forward, and those in float32 with which it is tested."""
    stored = source.stored_dtype
    used = dtype or usual_dtype(device, stored)
    each = max(used.itemsize, stored.itemsize)
    parameters = source.weight_bytes // stored.itemsize
    if device.type == "cpu" and parameters * used.itemsize <= PACKED_UP_TO:
        each += used.itemsize + torch.float32.itemsize
    return parameters * each


def check_memory(weight_bytes: int, device: torch.device) -> None:
    """Raises OutOfMemory if the weights and some room for everything else exceed the free memory of
    `device`."""
    advice = (
        "; with offload=True (--offload), layers that do not fit stay in host memory"
        if device.type == "cuda"
        else ""
    )
    require(weight_bytes * ROOM, device, "the two models need", advice)


def _tested(
    hf: Any, source: Source, where: _Where, dtype: torch.dtype | None, draft: bool
) -> TreeModel:
    """`hf` with its fastest forward. With `dtype` None, a small draft on a CPU without a native
    forward is a copy in int8 if FastLlama serves it."""
    if hasattr(hf, "rounding"):
        name = f"{source.title} in {hf.rounding.numbers}"
        return use_fast_forward(TreeModel(hf, name), source.text)
    if not isinstance(where, torch.device):
        return placed(hf, source.title, where, source.text)
    if draft and not dtype and _is_better_rounded(hf):
        rounded = rounded_copy(hf, "int8", where, shared=True)
        model = use_fast_forward(TreeModel(rounded, source.title), source.text)
        if model.forward_name == "fast":
            return model
    return use_fast_forward(TreeModel(hf, source.title), source.text)


def _is_better_rounded(hf: Any) -> bool:
    return (
        hf.device.type == "cpu"
        and hf.dtype == torch.bfloat16
        and hf.config.model_type in FAMILIES
        and not has_native_forward(hf)
        and hf.num_parameters() <= _ROUNDED_UP_TO
    )


def same_vocabulary(target: TreeModel, draft: TreeModel, pieces: int) -> str:
    """Limit both models to the smaller of their vocabularies. The further tokens of the larger one
    are padding. Returns what was done, in words. pieces: the tokenizer's highest token id plus 1.
    Raises BadPair if a model has fewer than `pieces` tokens."""
    ours, its = target.vocab, draft.vocab
    common = min(ours, its)
    if common < pieces:
        raise BadPair(
            f"the tokenizer has {pieces:,} tokens, but the target has {ours:,} and the draft "
            f"{its:,}"
        )
    target.vocab = draft.vocab = common
    if ours == its:
        padding = f"; the last {common - pieces:,} are padding" if common > pieces else ""
        return f"both models have {common:,} tokens, the tokenizer {pieces:,}{padding}"
    return (
        f"the {'target' if ours > its else 'draft'} has {abs(ours - its):,} more tokens; these are "
        f"padding and are not used, so both models have {common:,}"
    )


def recorded_acceptances(path: Path) -> tuple[RecordedAcceptance, ...]:
    """The acceptance recorded in the file at `path`, for each temperature and kind of text. Empty
    if the file is missing. Where rates fitted to whole trees are recorded, they are used instead of
    the counted rates."""
    if not path.is_file():
        return ()
    rows = load_json(path)["measured"]
    return tuple(
        RecordedAcceptance(
            float(row["temperature"]),
            Acceptance(tuple(row.get("fitted", row)["rates"])),
            row.get("kind", ""),
            row.get("agreement"),
        )
        for row in rows
    )
