"""A pair by name, or of two models given by folder or Hugging Face id: checked, loaded, tried.

Everything that can be refused is refused with its reason: before the weights where the config tells
(see checks.py), after them by a self-test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging as transformers_logging

from sequoia.algorithm.acceptance import Acceptance
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.errors import BadModel, BadPair, BadPrompt, Stopped
from sequoia.loading.find_pair import OnProgress, ShouldStop, found_pair, printer
from sequoia.loading.hub.download import size
from sequoia.loading.large.load_large import placed, plan_large
from sequoia.loading.large.placement import OffloadPlacement, SpreadPlacement
from sequoia.loading.pair_catalog import BUNDLED_NAME
from sequoia.loading.pair_checks import PassedCheck, Source, checked_device, checked_dtype, refused
from sequoia.loading.pair_request import PairRequest
from sequoia.loading.weights.finite_weights import refuse_not_finite
from sequoia.loading.weights.read_weights import Weights, read_weights
from sequoia.models.chat.chat_template import ChatTemplate, chat_template
from sequoia.models.fastest_number_type import MEASURED_UP_TO, best_dtype
from sequoia.models.pair import Pair, RecordedAcceptance
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel
from sequoia.renamed_keywords import renamed_keywords
from sequoia.this_machine.memory import ROOM, require, require_possible
from sequoia.this_machine.number_types import narrowest_dtype
from sequoia.validate_input import whole

# a parameter: the file as it is, both copies to choose from, and the weights of each laid out anew
_BYTES_TO_CHOOSE = 16
_ROWS = (16, 2)  # of a usual pass of the target and of the draft


@renamed_keywords(tell="on_progress", stop="should_stop")
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
    """The pair called `name` (see pair_catalog.py), or the one of two given models, downloaded
    where it is not there, checked and ready to decode.

    For the first six see PairRequest. online: whether the hub may be asked, None for yes unless
    HF_HUB_OFFLINE is set. on_progress hears how far it is, and should_stop is asked whether to go
    on; by default downloads are shown on the standard error. Raises BadModel, BadPair,
    NotDownloaded, OutOfMemory or Stopped with the reason.
    """
    request = PairRequest(name, target, draft, device, dtype, offload)
    return load(request, online, on_progress or printer(), should_stop)


def load(
    request: PairRequest,
    online: bool | None,
    on_progress: OnProgress,
    should_stop: ShouldStop = lambda: False,
) -> Pair:
    """`load_pair` for a request."""
    where = checked_device(request.device)
    kinds = checked_dtype(request.dtype)
    transformers_logging.disable_progress_bar()
    with found_pair(request, online, on_progress, should_stop) as found:
        plan = _plan([found.target, found.draft], request, where, kinds)
        found.fetch()
    big = _loaded(found.target, plan or where, kinds, False, on_progress, should_stop)
    beside = plan.output if plan else where
    small = _loaded(found.draft, beside, kinds, True, on_progress, should_stop)
    tokenizer = found.tokenizer
    pieces = 1 + max(tokenizer.get_vocab().values())
    on_progress(PassedCheck("vocabulary", same_vocabulary(big, small, pieces)))
    return Pair(
        BUNDLED_NAME if request.is_bundled else f"{big.name} + {small.name}",
        big,
        small,
        tokenizer,
        begin=(tokenizer.bos_token_id,) if request.is_bundled else (),
        stop=stop_tokens(big.hf, tokenizer),
        known=_bundled_acceptances() if request.is_bundled else (),
        template=_template(tokenizer, on_progress),
    )


def _bundled_acceptances() -> tuple[RecordedAcceptance, ...]:
    return recorded_acceptances(BUNDLED_PAIR / "acceptance.json")


def fetch(
    request: PairRequest,
    online: bool | None,
    on_progress: OnProgress,
    should_stop: ShouldStop = lambda: False,
) -> None:
    """Do all of `load` that needs a network: afterwards it finds everything on this machine.
    Memory that is in use now may be free by then, so only what this machine can never hold is
    refused. Raises as `load_pair` does."""
    where = checked_device(request.device)
    kinds = checked_dtype(request.dtype)
    with found_pair(request, online, on_progress, should_stop) as found:
        sources = (found.target, found.draft)
        big, small = (loaded_bytes(source, where, kinds) * ROOM for source in sources)
        if request.streamed is False:
            several = request.device in ("auto", "spread")
            require_possible(big + small, where, several, "the two models need")
        else:
            host = torch.device("cpu")
            require_possible(big, host, False, "the target, streamed from memory, needs")
        found.fetch()


def _plan(
    sources: list[Source],
    request: PairRequest,
    where: torch.device,
    dtypes: tuple[torch.dtype, ...],
) -> SpreadPlacement | OffloadPlacement | None:
    """How to divide a target that is too large for `where`; None where both models simply
    go there, and fit."""
    big, small = sources
    sizes = [loaded_bytes(source, where, dtypes) for source in sources]
    plan = refused(
        BadModel,
        f"cannot divide {big.title}",
        lambda: plan_large(big, small, sizes, request.device, where, dtypes, request.streamed),
    )
    if plan is None:
        check_memory(sum(sizes), where)
    return plan


def _loaded(
    source: Source,
    where: torch.device | SpreadPlacement | OffloadPlacement,
    dtypes: tuple[torch.dtype, ...],
    draft: bool,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> TreeModel:
    if should_stop():
        raise Stopped("stopped before the weights were read")
    on_progress(f"reading the weights of {source.title}, {size(source.weight_bytes)}")
    model = load_model(source, where, dtypes, draft, on_progress)
    place = f"{model.device}, {model.placement}" if model.placement else f"{model.device}"
    how = (
        "lean forward"
        if model.forward_name == "lean"
        else f"{model.forward_name} forward with {source.attention} attention"
    )
    on_progress(
        PassedCheck(
            "draft" if draft else "target",
            f"{source.title}: {model.numbers}, {how} on {place}; {model.tested}",
        )
    )
    return model


def _template(tokenizer: Any, on_progress: OnProgress) -> ChatTemplate | None:
    """The chat template, tried once; None where there is none, or it fails."""
    template = chat_template(tokenizer)
    if template is None:
        on_progress(
            PassedCheck(
                "chat template", "none comes with these models: prompts are continued as they stand"
            )
        )
        return None
    try:
        text = template("Hello")
    except BadPrompt as problem:
        on_progress(
            PassedCheck(
                "chat template",
                f"not used, as it does not work ({problem}): prompts are continued as they stand",
            )
        )
        return None
    on_progress(
        PassedCheck(
            "chat template",
            (
                f"tried on one word, of which it makes {len(text)} characters; prompts "
                "can be chat messages"
            ),
        )
    )
    return template


def loaded_bytes(source: Source, device: torch.device, dtypes: tuple[torch.dtype, ...]) -> int:
    """Bytes of the weights once loaded: float32 made of a bfloat16 file takes twice the file."""
    stored = getattr(source.config.get_text_config(), "dtype", None) or torch.float32
    used = dtypes[0] if dtypes else narrowest_dtype(device)
    if (
        not dtypes
        and device.type == "cpu"
        and source.weight_bytes // stored.itemsize <= MEASURED_UP_TO
    ):
        return _BYTES_TO_CHOOSE * source.weight_bytes // stored.itemsize
    return source.weight_bytes * max(used.itemsize, stored.itemsize) // stored.itemsize


def check_memory(weight_bytes: int, device: torch.device) -> None:
    """OutOfMemory where the weights, and some room for everything else, exceed what is free."""
    advice = (
        "; offload=True (--offload) leaves most of the target in host memory"
        if device.type == "cuda"
        else ""
    )
    require(weight_bytes * ROOM, device, "the two models need", advice)


def load_model(
    source: Source,
    where: torch.device | SpreadPlacement | OffloadPlacement,
    dtypes: tuple[torch.dtype, ...],
    draft: bool,
    on_progress: OnProgress,
) -> TreeModel:
    """Weights from safetensors in the given number type, or the one that runs a usual pass fastest;
    self-tested. `on_progress` hears of tensors that are not used."""
    device = where if isinstance(where, torch.device) else where.output
    weights = _weights(source, where, dtypes[0] if dtypes else narrowest_dtype(device))
    refuse_not_finite(weights.hf, source.title)
    if weights.unused.words:
        on_progress(
            PassedCheck("unused tensors", f"{source.title}: not used are {weights.unused.words}")
        )
    return refused(
        BadModel,
        f"{source.title} cannot run a tree",
        lambda: _tested(weights.hf, source, where, dtypes, draft),
    )


def _weights(
    source: Source, where: torch.device | SpreadPlacement | OffloadPlacement, dtype: torch.dtype
) -> Weights:
    """The weights on the device or devices of `where`, or on the CPU where layers are to be
    streamed from it."""
    devices = {"device_map": where.where} if isinstance(where, SpreadPlacement) else {}
    weights = refused(
        BadModel, f"cannot load {source.title!r}", lambda: read_weights(source, dtype, **devices)
    )
    if isinstance(where, torch.device):
        refused(BadModel, f"cannot load {source.title!r}", lambda: weights.hf.to(where))
    return weights


def _tested(
    hf: Any,
    source: Source,
    where: torch.device | SpreadPlacement | OffloadPlacement,
    dtypes: tuple[torch.dtype, ...],
    draft: bool,
) -> TreeModel:
    if not isinstance(where, torch.device):
        model = placed(hf, source.title, where)
    elif dtypes:
        model = TreeModel(hf, source.title).use_fast_forward()
    else:
        model = best_dtype(
            hf, lambda dtype: _weights(source, where, dtype).hf, source.title, _ROWS[draft], draft
        )
    self_test(model)
    return model


def same_vocabulary(target: TreeModel, draft: TreeModel, pieces: int) -> str:
    """Cut rows that only pad the vocabulary, so that both models speak of the same tokens; what
    was done, in words."""
    rows = target.vocab, draft.vocab
    if min(rows) < pieces:
        raise BadPair(
            f"the tokenizer has {pieces} pieces, but the models know {rows[0]} and {rows[1]}"
        )
    target.vocab = draft.vocab = min(rows)
    if rows[0] == rows[1]:
        padding = f", of which the last {rows[0] - pieces:,} only pad" if rows[0] > pieces else ""
        return f"both models have {rows[0]:,} rows for {pieces:,} pieces{padding}"
    longer, cut = (
        ("target", rows[0] - rows[1]) if rows[0] > rows[1] else ("draft", rows[1] - rows[0])
    )
    return (
        f"the {longer} has {cut:,} more rows, which only pad its vocabulary; they are left out, so "
        f"both speak of {min(rows):,}"
    )


def stop_tokens(hf: Any, tokenizer: Any) -> frozenset[int]:
    """End-of-text ids from the generation config and the tokenizer; a model without any never ends
    by itself. Raises BadModel where one is no whole number."""
    configured = getattr(hf.generation_config, "eos_token_id", None)
    ids = configured if isinstance(configured, list) else [configured]
    what = "an end-of-text id (eos_token_id) of the target"
    return frozenset(
        whole(token, what, -1, 2**31, BadModel)
        for token in (*ids, tokenizer.eos_token_id)
        if token is not None
    )


def recorded_acceptances(path: Path) -> tuple[RecordedAcceptance, ...]:
    """Shipped acceptance vectors, as fitted to trees where they are; none where the file is
    missing."""
    if not path.is_file():
        return ()
    rows = json.loads(path.read_text(encoding="utf-8"))["measured"]
    return tuple(
        RecordedAcceptance(
            float(row["temperature"]),
            Acceptance(tuple(row.get("fitted", row)["rates"])),
            row.get("kind", ""),
            row.get("agreement"),
        )
        for row in rows
    )
