"""Messages with the content of the Models view: the named pairs and whether they fit this machine,
the loaded pair, the model types, and the progress of a load. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch
import transformers

from sequoia import Pair, SamplingParams
from sequoia.errors import BadModel
from sequoia.loading.download import ROOM_LEFT, disk_free, is_here
from sequoia.loading.model_checks import checked_device, checked_dtype
from sequoia.loading.model_families import KnownTypes, ModelType, known_types
from sequoia.loading.model_files import hub_folder
from sequoia.loading.pair_request import BUNDLED_NAME, Model, PairRequest, Preset, find, presets
from sequoia.measuring.defaults import default_chain, default_plan
from sequoia.models.describe import describe
from sequoia.this_machine.dtypes import narrowest_dtype
from sequoia.this_machine.gpu_health import unusable_gpu
from sequoia.this_machine.memory import ROOM, free_bytes, size, total_bytes
from sequoia.validate_input import json_text
from ui.models.load_job import Report
from ui.serving.model_host import named, parameter_count
from ui.words.plans import copy_words

# At least the embeddings, the output matrix and two layers of a streamed target are on the GPU. For
# the pairs in the catalog, they make up at most this share of the target.
_LEAST_ON_CARD = 0.2
_PICKLED = "its small model is a pickle file, which can run code when it is opened"


def whole(pair: Pair | None, online: bool) -> str:
    """A message with everything the view shows except the progress of a load. online: whether
    models may be downloaded."""
    device = checked_device("auto")
    free = disk_free()
    rows = [_row(one, _devices("auto"), free) for one in presets()]
    return json_text(
        {
            "pairs": rows,
            "loaded": loaded(pair) if pair else None,
            "machine": _machine(device, free, online),
            "types": types_message(),
        }
    )


def report_message(report: Report, field: str | None = None) -> str:
    """A message with the progress of a load; the table on screen stays. field: the field of the
    form that an error is about."""
    progress = report.progress
    share = progress.done / progress.total if progress and progress.total else None
    return json_text(
        {
            "load": {
                "title": _title(report),
                "words": report.words,
                "over": report.over,
                "error": report.error,
                "done": report.done,
                "share": share,
                "amount": _amount(report),
                "model": progress.model if progress else None,
                "checks": [[check.what, check.words] for check in report.checks],
            },
            "field": field,
        }
    )


def no_load_message(field: str | None = None) -> str:
    """A message that hides the progress of the last load. field: the field of the form that a
    refused request is about."""
    return json_text({"load": None, "field": field})


def require_fit(pair_request: PairRequest) -> None:
    """Raises BadModel for a named pair that cannot fit into the memory of the requested device, in
    the requested dtype. For the device "spread", only the load itself checks this."""
    one = find(pair_request.name)
    if one is None or pair_request.device == "spread":
        return
    placed = replace(one, offload=one.offload or bool(pair_request.offload))
    devices = _devices(pair_request.device)
    memory = _memory(placed, *devices, dtype=checked_dtype(pair_request.dtype))
    if memory["fits"] == "no":
        raise BadModel(
            f"{one.name} does not fit this machine ({memory['words']}); choose a smaller pair or "
            "another precision"
        )


def loaded(pair: Pair) -> dict[str, Any]:
    """The fields of a message about the pair in use; see Loaded in web/models_view.js."""
    return {
        "name": pair.name,
        **{role: _in_use(pair, role) for role in ("target", "draft")},
        "vocab": pair.target.vocab,
        "limit": pair.limit,
        "why": pair.limit_reason,
        "notes": [[what.capitalize(), words] for what, words in _notes(pair)],
    }


def _notes(pair: Pair) -> list[tuple[str, str]]:
    note = _draft_note(pair)
    return [*([("the small model", note)] if note else []), *pair.notes.items()]


def _draft_note(pair: Pair) -> str:
    """What to know about a draft that is a rounded copy of the target; else ""."""
    draft = pair.draft
    if draft.name != f"{pair.target.name} in {draft.numbers}":
        return ""
    decoded = pair.as_chat() if pair.template else pair
    plan = default_plan(decoded, SamplingParams())
    if len(plan.tree) == 1:
        plan = default_chain(decoded, SamplingParams())
    return copy_words(draft.numbers, plan.predicted_speedup)


# -- parts -----------------------------------------------------------------------------------------


def _title(report: Report) -> str:
    """The state of the load, in a word or two."""
    if report.error:
        return "Not loaded"
    if report.over:
        return "Loaded" if report.done else "Stopped"
    return "Loading"


def _in_use(pair: Pair, role: str) -> dict[str, str]:
    model = getattr(pair, role)
    return {
        "name": named(pair, role),
        "numbers": model.numbers,
        "forward": model.forward_words,
        "no_faster_forward": model.no_fast_forward or model.not_the_fastest,
        "no_gpu_verification": model.no_gpu_verification,
        "device": str(model.device),
        "placement": model.placement,
    }


def _machine(device: torch.device, disk: int, online: bool) -> dict[str, Any]:
    return {
        "device": describe(device) + _unused_card(),
        "memory": size(total_bytes(device)),
        "free": size(free_bytes(device)),
        "disk": size(disk),
        "online": online,
    }


def _unused_card() -> str:
    """Why the graphics card is not used, as the end of a sentence. Empty if it is used, or if there
    is none."""
    problem = unusable_gpu()
    return (
        f"; the graphics card is not used, because it cannot compute ({problem})" if problem else ""
    )


def _devices(requested: str) -> tuple[torch.device, ...]:
    """The devices that a pair may use if the device `requested` is chosen. With "auto", these are
    all GPUs if there are any, because a pair that is too large for one is spread over several."""
    first = checked_device(requested)
    if requested != "auto" or first.type != "cuda":
        return (first,)
    return tuple(torch.device("cuda", i) for i in range(torch.cuda.device_count()))


def _row(one: Preset, devices: Sequence[torch.device], disk: int) -> dict[str, Any]:
    """The table's row for a pair; see PairRow in web/pair_table.js. devices: those that it may use.
    disk: free bytes."""
    models = {role: _model(getattr(one, role)) for role in ("target", "draft")}
    missing = sum(model.bytes for model in one.models if _is_missing(model))
    return {
        "name": one.name,
        "tier": one.tier,
        **models,
        "needs": one.needs,
        "note": one.note,
        "bytes": size(sum(model.bytes for model in one.models)),
        "licences": _licences(one),
        "gated": [model.id for model in one.models if model.gated],
        "memory": _memory(one, *devices),
        "disk": _disk(one, missing, disk),
        "why_not": _PICKLED if any(model.pickle for model in one.models) else "",
    }


def _is_missing(model: Model) -> bool:
    return not (model.bundled or is_here(model.id))


def _licences(one: Preset) -> str:
    target, draft = (model.licence for model in one.models)
    return target if target == draft else f"large model: {target}; small model: {draft}"


def _model(model: Model) -> dict[str, Any]:
    return {
        "id": model.id,
        "parameters": parameter_count(model.parameters),
        "bytes": size(model.bytes),
        "source": model.source,
    }


def _memory(
    one: Preset, *devices: torch.device, dtype: torch.dtype | None = None
) -> dict[str, str]:
    """Whether the pair fits into memory, and the figures in words. "tight": it would fit, but not
    into the memory that is free now. A pair that is too large for the first of `devices` may use
    all of them; with a streamed target, only the first is used. dtype: of the weights; None for the
    narrowest that is fast on the first device."""
    first = devices[0]
    if one.offload:
        return _streamed(one, first, dtype)
    dtype = dtype or narrowest_dtype(first)
    weights = ROOM * sum(model.parameters for model in one.models)
    needed = weights * dtype.itemsize
    used = devices if needed > total_bytes(first) else (first,)
    total, free = (sum(map(read, used)) for read in (total_bytes, free_bytes))
    return _fit(needed, total, free, dtype, f"{_owner(used)} {size(total)}")


def _fit(
    needed: float, total: float, free: float, dtype: torch.dtype, owned: str, of: str = ""
) -> dict[str, str]:
    """Whether `needed` bytes fit. owned: who has how much, in words. of: the kind of memory."""
    name = _name(dtype)
    if needed > total:
        return _verdict("no", f"too large in {name}: needs {size(needed)}{of}; {owned}")
    if needed > free:
        return _verdict("tight", f"needs {size(needed)}{of} in {name}; only {size(free)} free now")
    return _verdict("yes", f"fits this machine in {name}: needs {size(needed)}{of}")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _owner(devices: Sequence[torch.device]) -> str:
    if len(devices) > 1:
        return f"the {len(devices)} GPUs have"
    return "the GPU has" if devices[0].type == "cuda" else "this machine has"


def _streamed(one: Preset, device: torch.device, dtype: torch.dtype | None) -> dict[str, str]:
    """`_memory` for a pair whose target is streamed from host memory."""
    host = torch.device("cpu")
    dtype = dtype or (narrowest_dtype(device) if device.type == "cuda" else torch.bfloat16)
    width = dtype.itemsize
    needed = ROOM * one.target.parameters * width
    drafts = ROOM * one.draft.parameters * width
    on_card = drafts + _LEAST_ON_CARD * needed
    if device.type != "cuda" or total_bytes(device) < on_card:
        return _verdict("no", f"needs a GPU with {size(on_card)} for {_name(dtype)}")
    # As in sequoia/loading/load.py: if the weights are not converted to another dtype, host memory
    # holds only the streamed ones, which are those that do not fit on the GPU.
    if narrowest_dtype(device) == torch.bfloat16 and width == torch.bfloat16.itemsize:
        needed = max(needed + drafts - total_bytes(device), 0)
    total = total_bytes(host)
    owned = f"this machine has {size(total)}"
    return _fit(needed, total, free_bytes(host), dtype, owned, " of host memory")


def _disk(one: Preset, missing: int, free: int) -> dict[str, str]:
    """Whether the pair fits on disk, and the figures in words. "here": nothing to download.
    missing: bytes of the models that are not complete on disk. free: free bytes."""
    if not missing:
        return _verdict("here", "on this machine")
    there = sum(_parts(model.id) for model in one.models if _is_missing(model))
    words = f"{size(missing)} to download" + (
        f", {size(there)} of it already here" if there else ""
    )
    if missing - there + ROOM_LEFT > free:
        room = f"{size(free)} free, of which {size(ROOM_LEFT)} must stay free"
        return _verdict("no", f"{words}; {room}")
    is_partly_here = there or missing < sum(model.bytes for model in one.models)
    return _verdict("yes", f"fits; {words}" if is_partly_here else "fits")


def _verdict(fits: str, words: str) -> dict[str, str]:
    return {"fits": fits, "words": words}


def _parts(model: str) -> int:
    """Bytes on disk of a model whose download is not complete."""
    return sum(
        path.stat().st_size for path in (hub_folder(model) / "blobs").glob("*") if path.is_file()
    )


def _amount(report: Report) -> str | None:
    """How much is downloaded and how fast, in words; None without a download."""
    found = report.progress
    return f"{size(found.done)} of {size(found.total)} · {size(found.rate)}/s" if found else None


NAMES = (BUNDLED_NAME, *(one.name for one in presets()))


# -- the model types, in words --------------------------------------------------------------------


@cache
def types_message() -> dict[str, Any]:
    """A summary, and for each type its name, its result and a sentence about it."""
    known = known_types()
    rows = [
        {"name": one.name, "result": one.result, "words": type_words(one)} for one in known.types
    ]
    return {"summary": _types_summary(known), "rows": rows}


def _types_summary(known: KnownTypes) -> str:
    """How many types run, and a warning if the list was made with a version of transformers other
    than the installed one."""
    counts = (
        f"transformers {known.transformers} can load {len(known.types)} model types as causal "
        f"language models. Tested with a tiny model of each type: {known.count('runs')} run with "
        f"their default config, {known.count('partly')} run only with a config other than the "
        f"default, and {len(known.types) - known.count('runs') - known.count('partly')} do not run"
    )
    installed = transformers.__version__
    other = (
        ""
        if installed == known.transformers
        else f" Here, transformers {installed} is installed, so results may differ."
    )
    return f"{counts}.{other} Each model is also tested when it is loaded."


def type_words(one: ModelType) -> str:
    """Whether a type runs, and why not, in words. For a refused type, the only change of the
    config that is mentioned is is_decoder=True, because `one.reason` says that it is not set."""
    if one.result == "runs":
        exceptions = " or ".join(_exception(option, why) for option, why in one.without)
        return f"runs, except {exceptions}" if exceptions else "runs"
    if one.result == "partly":
        return (
            f"runs only if the model's config has {one.condition}. With the default config, it "
            f"{one.reason}."
        )
    if one.result == "not built":
        return f"transformers cannot build it: {one.reason}"
    return f"refused: it {one.reason}" + "".join(
        f". With {option}, it {why}." for option, why in one.without if option == "is_decoder=True"
    )


def _exception(option: str, why: str) -> str:
    """Words for an option with which a type does not run, and why. The width of a sliding window in
    `option` is only an example, so the words leave it out."""
    if option.partition("=")[0] != "sliding_window":
        return f"with {option} (it {why})"
    return f"with a sliding window ({why.partition('; ')[2]})"
