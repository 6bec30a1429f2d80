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
from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.errors import BadPair, Stopped
from sequoia.loading.find_pair import FoundPair, OnProgress, found_pair, printer
from sequoia.loading.layer_drafts import is_layer_draft, layers_for, origin_words
from sequoia.loading.model_checks import PassedCheck, Source, checked_device, checked_dtype, refused
from sequoia.loading.pair_request import BUNDLED_NAME, LOOKUPS, PairRequest
from sequoia.loading.placement import (
    HOST,
    OffloadPlacement,
    SpreadPlacement,
    placed,
    plan_large,
)
from sequoia.loading.prompt_setup import with_prompts
from sequoia.loading.read_weights import read_weights, refuse_not_finite
from sequoia.models.choose_forward import use_fast_forward, use_rounded_weights
from sequoia.models.draft import Draft
from sequoia.models.memory_needs import PACKED_UP_TO
from sequoia.models.packed_llama import PackedLlama
from sequoia.models.pair import Pair, RecordedAcceptance
from sequoia.models.rounded_copy import ROUNDED, rounded_copy, rounded_copy_bytes
from sequoia.models.tree_forward import TreeModel
from sequoia.text_files import load_json
from sequoia.this_machine.dtypes import usual_dtype
from sequoia.this_machine.memory import ROOM, require, require_possible, size

_ACCEPTANCE = "acceptance.json"  # beside a draft that comes with the program
_OFFLOAD = "; with offload=True (--offload), layers that do not fit stay in host memory"
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
    loading = _Loading(request, on_progress, should_stop)
    transformers_logging.disable_progress_bar()
    with found_pair(request, online, on_progress, should_stop) as found:
        plan = loading.plan(found)
        found.fetch()
    target, draft = loading.models(found, plan)
    if isinstance(draft, TreeModel):
        _fit_together(target, draft, found.tokenizer, on_progress)
    name = f"{target.name} + {draft.name}"
    pair = with_prompts(Pair(name, target, draft, found.tokenizer), on_progress)
    if request.has_bundled_target:
        pair = replace(pair, begin=(pair.tokenizer.bos_token_id,))
    if request.derived:
        return pair
    if request.has_bundled_target:
        return _with_survey(replace(pair, name=BUNDLED_NAME), BUNDLED_PAIR / _ACCEPTANCE)
    path = found.draft.folder.resolve() / _ACCEPTANCE if found.draft else None
    if path and path.is_relative_to(ASSETS) and path.is_file():
        return _with_survey(pair, path)
    return pair


def _with_survey(pair: Pair, path: Path) -> Pair:
    return replace(pair, known=recorded_acceptances(path), survey=path)


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
    loading = _Loading(request, on_progress, should_stop)
    with found_pair(request, online, on_progress, should_stop) as found:
        loading.require_possible(found)
        found.fetch()


class _Loading:
    """The loading of one pair. Raises BadModel if the device or the dtype cannot be used."""

    def __init__(
        self, request: PairRequest, on_progress: OnProgress, should_stop: ShouldStop
    ) -> None:
        self._request = request
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._where = checked_device(request.device)
        self._dtype = checked_dtype(request.dtype)  # None: the usual one of a device

    def require_possible(self, found: FoundPair) -> None:
        """Raises OutOfMemory if the models do not fit in the total memory of the devices."""
        devices = [self._where]
        if self._request.streamed is not False:
            devices = [*{self._where, HOST}]
        elif self._where.type == "cuda" and self._request.device in ("auto", "spread"):
            devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
        require_possible(sum(self._sizes(found)) * ROOM, devices, "the two models need")

    def plan(self, found: FoundPair) -> SpreadPlacement | OffloadPlacement | None:
        """The placement of a target that is to be spread or streamed. None if both models go to one
        device entirely. Raises OutOfMemory if the two models do not fit, and BadModel if the target
        cannot be divided."""
        request = self._request
        target = found.target
        sizes = self._sizes(found)
        given = (sizes, request.device, self._where, self._dtype, request.streamed)
        plan = refused(
            f"cannot divide {target.title}",
            lambda: plan_large(target, found.draft or target, *given),
        )
        if plan is None:
            advice = _OFFLOAD if self._where.type == "cuda" else ""
            require(sum(sizes) * ROOM, self._where, "the two models need", advice)
        return plan

    def _sizes(self, found: FoundPair) -> list[int]:
        """Bytes of memory to load the target and the draft."""
        target = loaded_bytes(found.target, self._where, self._dtype)
        if found.draft:
            return [target, loaded_bytes(found.draft, self._where, self._dtype)]
        derived = self._request.derived
        if derived in LOOKUPS:
            return [target, 0]
        used = self._dtype or usual_dtype(self._where, found.target.stored_dtype)
        title = found.target.title
        return [target, rounded_copy_bytes(found.target.config, title, derived, self._where, used)]

    def models(
        self, found: FoundPair, plan: SpreadPlacement | OffloadPlacement | None
    ) -> tuple[TreeModel, Draft]:
        """The target, placed as `plan` says, and the draft, both tested."""
        where = plan.output if plan else self._where  # of the draft
        hf = self._read(found.target, plan or where)
        derived = self._request.derived
        # a copy must be made before the target is streamed
        copied = None
        if derived in ROUNDED:
            copied = refused(
                f"cannot make a copy of {found.target.title} in {derived}",
                lambda: rounded_copy(hf, derived, where, shared=plan is None),
            )
        target = self._ready(hf, found.target, plan or where)
        if derived in LOOKUPS:
            lookup = LOOKUPS[derived](target.vocab, target.limit)
            self._on_progress(PassedCheck("draft", f"no model: {lookup.forward_words}"))
            return target, lookup
        if found.draft is None:
            of = target if derived == "int8" else None
            return target, self._ready(copied, found.target, where, draft=True, of=of)
        if is_layer_draft(found.draft.folder):
            hf = layers_for(found.draft, target, found.tokenizer, where)
            words = f"{found.draft.title}: {origin_words(found.draft)}"
            self._on_progress(PassedCheck("draft", words))
        else:
            hf = self._read(found.draft, where)
        return target, self._ready(hf, found.draft, where, draft=True)

    def _read(self, source: Source, where: _Where) -> Any:
        """The model of `source` with its weights, on the devices of `where`, or on the CPU for an
        OffloadPlacement."""
        if self._should_stop():
            raise Stopped(f"stopped before the weights of {source.title} were loaded")
        self._on_progress(f"loading the weights of {source.title}, {size(source.weight_bytes)}")
        device = where if isinstance(where, torch.device) else where.output
        used = self._dtype or usual_dtype(device, source.stored_dtype)
        devices = {"device_map": where.where} if isinstance(where, SpreadPlacement) else {}

        def read() -> Any:
            hf = read_weights(source, used, **devices)
            return hf.to(where) if isinstance(where, torch.device) else hf

        hf = refused(f"cannot load {source.title!r}", read)
        refuse_not_finite(hf, source.title)
        return hf

    def _ready(
        self,
        hf: Any,
        source: Source,
        where: _Where,
        draft: bool = False,
        of: TreeModel | None = None,
    ) -> TreeModel:
        """The model `hf` of `source`, or a rounded copy of it, self-tested. of: the model that a
        copy in int8 was made of."""
        self._on_progress(f"testing the passes of {source.title}")
        model = refused(
            f"{source.title} cannot run a tree",
            lambda: self._tested(hf, source, where),
        )
        if draft:
            use_rounded_weights(model, of or model, source.text)
        place = ", ".join(filter(None, (str(model.device), model.placement)))
        is_packed = isinstance(model.forward, PackedLlama)
        attention = "" if is_packed else f" with {source.attention} attention"
        words = (
            f"{source.title}: {model.numbers}, {model.forward_words}{attention}, on {place}; "
            f"{model.tested}"
        )
        self._on_progress(PassedCheck("draft" if draft else "target", words))
        return model

    def _tested(self, hf: Any, source: Source, where: _Where) -> TreeModel:
        """`hf` with its fastest forward."""
        if hasattr(hf, "rounding"):
            name = f"{source.title} in {hf.rounding.numbers}"
            return use_fast_forward(TreeModel(hf, name), source.text)
        if not isinstance(where, torch.device):
            return placed(hf, source.title, where, source.text)
        return use_fast_forward(TreeModel(hf, source.title), source.text)


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


def _fit_together(
    target: TreeModel, draft: TreeModel, tokenizer: Any, on_progress: OnProgress
) -> None:
    """Limit both models to the smaller of their vocabularies. The further tokens of the larger one
    are padding. Raises BadPair if a model has fewer tokens than the tokenizer."""
    pieces = 1 + max(tokenizer.get_vocab().values())
    ours, its = target.vocab, draft.vocab
    common = min(ours, its)
    if common < pieces:
        raise BadPair(
            f"the tokenizer has {pieces:,} tokens, but the target has {ours:,} and the draft "
            f"{its:,}"
        )
    target.vocab = draft.vocab = common
    words = f"both models have {common:,} tokens, the tokenizer {pieces:,}"
    if ours != its:
        larger = "target" if ours > its else "draft"
        words += f"; {abs(ours - its):,} more tokens of the {larger} are padding and not used"
    on_progress(PassedCheck("vocabulary", words))


def recorded_acceptances(path: Path) -> tuple[RecordedAcceptance, ...]:
    """The acceptance recorded in the file at `path`, for each temperature and kind of text. Where
    rates fitted to whole trees are recorded, they are used instead of the counted rates."""
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
