"""What the models view shows: the pairs that have a name and whether this machine can hold them,
what is loaded, how far a load is. Pure but for looking at memory and disk. Knows no components."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import psutil
import torch

from sequoia import Pair
from sequoia.loading.hub.download import ROOM_LEFT, disk_free, is_here, size
from sequoia.loading.hub.model_files import hub_folder
from sequoia.loading.pair_catalog import BUNDLED_NAME, Model, Preset, presets
from sequoia.loading.pair_checks import checked_device
from sequoia.models.describe import describe
from sequoia.this_machine.memory import ROOM, free_bytes
from sequoia.this_machine.number_types import narrowest_dtype
from ui.models.load_job import Report
from ui.models.model_types import types_message
from ui.serving.model_host import named

VERSION = 1
# bytes a graphics card needs for a streamed target: its draft, slots and two layers
_LEAST_CARD = 16e9


def whole(pair: Pair | None, online: bool) -> str:
    """All that stands on the board while nothing is being loaded. online: whether the
    hub may be asked."""
    device = checked_device("auto")
    free = disk_free()
    rows = [_row(one, device, free) for one in presets()]
    return _text(
        {
            "v": VERSION,
            "pairs": rows,
            "loaded": loaded(pair) if pair else None,
            "machine": _machine(device, free, online),
            "types": types_message(),
        }
    )


def report_message(report: Report, field: str | None = None) -> str:
    """How far a load is; the table stays as it is. field: that of the form which its error is
    about."""
    progress = report.progress
    share = progress.done / progress.total if progress and progress.total else None
    return _text(
        {
            "v": VERSION,
            "load": {
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


def notice_message(error: str, field: str | None = None) -> str:
    """An error, and the field of the form that it is about; what is on screen stays."""
    return _text({"v": VERSION, "error": error, "field": field})


def loaded(pair: Pair) -> dict[str, Any]:
    """The pair in use."""
    return {
        "name": pair.name,
        **{role: _in_use(pair, role) for role in ("target", "draft")},
        "vocab": pair.target.vocab,
        "limit": pair.limit,
        "why": pair.limit_reason,
        "chat": pair.template is not None,
    }


# -- parts -----------------------------------------------------------------------------------------


def _in_use(pair: Pair, role: str) -> dict[str, str]:
    model = getattr(pair, role)
    return {
        "name": named(pair, role),
        "numbers": model.numbers,
        "forward": model.forward_name,
        "no_fast_forward": model.no_fast_forward,
        "device": str(model.device),
        "placement": model.placement,
    }


def _machine(device: torch.device, disk: int, online: bool) -> dict[str, Any]:
    return {
        "device": describe(device),
        "memory": size(_total(device)),
        "free": size(free_bytes(device)),
        "disk": size(disk),
        "online": online,
    }


def _row(one: Preset, device: torch.device, disk: int) -> dict[str, Any]:
    models = {role: _model(getattr(one, role)) for role in ("target", "draft")}
    missing = sum(model.bytes for model in one.models if not is_here(model.id))
    return {
        "name": one.name,
        "tier": one.tier,
        **models,
        "needs": one.needs,
        "note": one.note,
        "bytes": size(sum(model.bytes for model in one.models)),
        "licences": _licences(one),
        "gated": [model.id for model in one.models if model.gated],
        "chat": one.target.chat,
        "memory": _memory(one, device),
        "disk": _disk(one, missing, disk),
    }


def _model(model: Model) -> dict[str, Any]:
    return {
        "id": model.id,
        "parameters": _count(model.parameters),
        "bytes": size(model.bytes),
        "source": model.source,
    }


def _licences(one: Preset) -> str:
    return ", ".join(dict.fromkeys(model.licence for model in one.models))


def _memory(one: Preset, device: torch.device) -> dict[str, str]:
    """Whether the machine can hold it: "yes", "tight" (not beside what is there now)
    or "no", in words."""
    if one.offload:
        return _streamed(one, device)
    needed = ROOM * sum(model.parameters for model in one.models) * narrowest_dtype(device).itemsize
    free = free_bytes(device)
    total = _total(device)
    if needed > total:
        return {"fits": "no", "words": f"too large: {size(needed)} of {size(total)}"}
    if needed > free:
        return {
            "fits": "tight",
            "words": f"{size(needed)}; {size(free)} of {size(total)} are free now",
        }
    return {"fits": "yes", "words": f"fits: {size(needed)} of {size(free)} free"}


def _streamed(one: Preset, device: torch.device) -> dict[str, str]:
    host = torch.device("cpu")
    needed = ROOM * one.target.bytes
    if device.type != "cuda" or _total(device) < _LEAST_CARD:
        return {"fits": "no", "words": f"needs a GPU with {size(_LEAST_CARD)}"}
    if needed > _total(host):
        return {
            "fits": "no",
            "words": f"too large: {size(needed)} of {size(_total(host))} host memory",
        }
    fits = "yes" if needed <= free_bytes(host) else "tight"
    return {"fits": fits, "words": f"{size(needed)} of {size(free_bytes(host))} free host memory"}


def _disk(one: Preset, missing: int, free: int) -> dict[str, str]:
    if not missing:
        return {"fits": "here", "words": "on this machine"}
    there = sum(_parts(model.id) for model in one.models if not is_here(model.id))
    words = f"{size(missing)} to download" + (f", {size(there)} of it there" if there else "")
    if missing - there + ROOM_LEFT > free:
        return {"fits": "no", "words": f"{words}; {size(free)} of disk are free"}
    return {"fits": "yes", "words": words}


def _parts(model: str) -> int:
    """Bytes that an earlier download has left of a model."""
    return sum(
        path.stat().st_size for path in (hub_folder(model) / "blobs").glob("*") if path.is_file()
    )


def _total(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return psutil.virtual_memory().total


def _amount(report: Report) -> str | None:
    found = report.progress
    return (
        f"{size(found.done)} of {size(found.total)} · {size(found.rate)} a second"
        if found
        else None
    )


def _count(parameters: int) -> str:
    return f"{parameters / 1e9:.3g} B" if parameters >= 1e9 else f"{parameters / 1e6:.3g} M"


def _text(message: Mapping[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


NAMES = (BUNDLED_NAME, *(one.name for one in presets()))
