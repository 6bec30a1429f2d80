"""Checks one model's config and files before any weights are loaded. A model that fails is refused
with the reason.

Of a weight file only the header is read: names, dtypes and shapes of the tensors. A file consists
of 8 bytes with the header's length, the header as JSON, and the bytes of the tensors without gaps.
The `safetensors` library checks the header against the file's length."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from sequoia.errors import BadModel, OutOfMemory, SequoiaError, panicked, reason
from sequoia.loading.folder_check import check_folder, read_config
from sequoia.loading.model_families import refuse_unfit
from sequoia.loading.model_files import files_in
from sequoia.this_machine.dtypes import DTYPES
from sequoia.this_machine.gpu_health import unusable_gpu
from sequoia.this_machine.memory import is_out_of_memory
from sequoia.validate_input import shown

WEIGHTS = ("F64", "F32", "F16", "BF16")
# dtypes of masks and counters, allowed in tensors whose names do not end in ".weight"
OTHERS = ("I64", "I32", "I16", "I8", "U8", "BOOL")
_POINTER = b"version https://git-lfs"


def count_numbers(path: Path, title: str) -> int:
    """How many numbers the tensors in the file at `path` have. Raises BadModel if the file cannot
    be read, is incomplete, or is invalid. title: the model's name in messages."""
    what = f"{title}: {path.name[:80]}"
    try:
        _refuse_pointer(path, what)
        with safe_open(path, "pt") as file:
            return sum(_count_numbers(name, file.get_slice(name), what) for name in file.keys())  # noqa: SIM118  no mapping
    except SafetensorError as problem:
        words = "".join(filter(str.isprintable, str(problem)))[:200]
        raise BadModel(
            f"{what} is damaged or the download is incomplete, so download it again (safetensors "
            f"says: {words})"
        ) from None
    except OSError as problem:
        raise BadModel(f"{what} cannot be read ({problem.strerror})") from None


def _count_numbers(name: str, tensor: Any, what: str) -> int:
    allowed = WEIGHTS if name.endswith(".weight") else WEIGHTS + OTHERS
    if (kind := tensor.get_dtype()) not in allowed:
        raise BadModel(
            f"{what}: tensor {shown(name)} has dtype {shown(kind)}; it must be one of "
            f"{', '.join(allowed)}"
        )
    return math.prod(tensor.get_shape())


def _refuse_pointer(path: Path, what: str) -> None:
    """Raises BadModel if the file only says where the weights are."""
    with path.open("rb") as file:
        if file.read(len(_POINTER)) != _POINTER:
            return
    raise BadModel(
        f"{what} is only a Git LFS pointer to the weights; fetch the weights with git lfs pull"
    )


# Some parameters are computed instead of stored. So a config may describe twice as many parameters
# as the files contain, plus this many.
_SPARE = 2**20


def weight_paths(folder: Path, title: str) -> list[Path]:
    """The files in `folder` with the weights. Raises BadModel if they are not all there."""
    return [folder / name for name in files_in(folder, title).weights]


def stored_numbers(folder: Path, title: str) -> int:
    """How many numbers the weight files have. Raises BadModel if a file is missing or damaged."""
    return sum(count_numbers(path, title) for path in weight_paths(folder, title))


def check_described(config: Any, stored: int, title: str) -> None:
    """Raises BadModel if the config describes a model with far more parameters than the `stored`
    numbers. Loading such a model could exhaust the memory: `transformers` fills parameters that the
    files lack with random numbers."""
    with torch.device("meta"):
        # A config may name an attention kernel that is not installed. Loading ignores the name too.
        hf = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    described = sum(weight.numel() for weight in hf.parameters())
    if described > 2 * stored + _SPARE:
        raise BadModel(
            f"{title}: its config describes {described:,} parameters, but its files contain "
            f"{stored:,}"
        )


@dataclass(frozen=True)
class PassedCheck:
    """A finished check that did not refuse the pair of target and draft. what: the thing that was
    checked. words: the result."""

    what: str
    words: str


@dataclass(frozen=True)
class Source:
    """A model whose config and other non-weight files passed all checks. name: the folder or hub id
    that was requested. folder: contains the model's files. config: a `transformers` config.
    weight_bytes: size of the weight files, which may still be on the hub. text: token ids of an
    ordinary text, with which the loaded model is tested (see SampleText)."""

    name: str
    folder: Path
    config: Any
    weight_bytes: int
    text: tuple[int, ...] = ()

    @property
    def attention(self) -> str:
        """The fastest attention implementation of the model's class that accepts a ready-made mask:
        PyTorch's fused "sdpa" if the class supports it, else "eager"."""
        made = AutoModelForCausalLM._model_mapping[type(self.config)]
        return "sdpa" if getattr(made, "_supports_sdpa", False) else "eager"

    @property
    def stored_dtype(self) -> torch.dtype:
        """The dtype that the config names for the weight files, float32 if it names none."""
        return getattr(self.config.get_text_config(), "dtype", None) or torch.float32

    @property
    def title(self) -> str:
        """The model's name in messages: the hub id, or the last part of a folder's path."""
        return _title(self.name, self.folder)


def _title(name: str, folder: Path) -> str:
    return (folder.name or folder.resolve().name)[:80] if Path(name).is_dir() else name[:200]


def check_source(name: str, folder: Path, weight_bytes: int | None = None) -> Source:
    """Check the config and the other non-weight files of the model `name` in `folder`.
    weight_bytes: the size of weight files that are not downloaded yet. If None, the weight files
    are in `folder` and are checked too. Raises BadModel if files are missing, damaged or unsafe, or
    if the model cannot run a token tree."""
    title = _title(name, folder)
    fields = refused(f"cannot read {title!r}", lambda: check_folder(folder, title))
    refuse_unknown(title, fields)
    config = refused(f"cannot read the config of {title!r}", lambda: read_config(fields, folder))
    refused(f"cannot use the config of {title!r}", lambda: refuse_unfit(title, config))
    if weight_bytes is not None:
        return Source(name, folder, config, weight_bytes)
    source = Source(name, folder, config, local_bytes(folder, title))
    check_weights(source)
    return source


def check_weights(source: Source) -> None:
    """Raises BadModel if a weight file is missing or damaged, or does not fit the config. Reads
    headers only."""
    stored = stored_numbers(source.folder, source.title)
    refused(
        f"{source.title!r} cannot be built from its config",
        lambda: check_described(source.config, stored, source.title),
    )


def refuse_unknown(title: str, config: Mapping[str, Any]) -> None:
    """Raises BadModel unless `config`, a parsed config.json, names a model type that the installed
    `transformers` implements itself."""
    kind = config.get("model_type")
    if not isinstance(kind, str) or not kind:
        raise BadModel(
            f"{title}: its config has no model_type, the field that names the model's type"
        )
    if kind not in CONFIG_MAPPING:
        own = "; code that comes with a model is never run" if config.get("auto_map") else ""
        raise BadModel(
            f"{title} is of type {shown(kind)}, which this version of transformers does "
            f"not know{own}"
        )


def checked_device(device: str) -> torch.device:
    """The device that `device` names. A GPU is returned with its index. "auto" means the first GPU,
    or the CPU if there is no GPU or the first one does not work. "spread" means the first GPU, or
    the CPU if there is no GPU; `plan_large` spreads the target later. Raises BadModel for an
    unknown name, for a GPU that does not exist, and for "spread" if the first GPU does not work."""
    if device == "spread" and (problem := unusable_gpu()):
        raise BadModel(f"device 'spread' uses all GPUs, but the first cannot compute ({problem})")
    if device in ("auto", "spread"):
        device = "cuda" if torch.cuda.is_available() and not unusable_gpu() else "cpu"
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:(0|[1-9][0-9]?))?", device):
        raise BadModel(f"device {shown(device)} is not auto, spread, cpu, cuda or cuda:NUMBER")
    found = torch.device(device)
    if found.type != "cuda":
        return found
    index = found.index or 0
    gpus = torch.cuda.device_count()
    if index >= gpus:
        has = f"{gpus} CUDA device{'s' * (gpus != 1)}"
        raise BadModel(f"device {device!r} does not exist: this machine has {has}")
    # with the index, to compare equal to the device of a loaded model
    return torch.device("cuda", index)


def checked_dtype(dtype: str) -> torch.dtype | None:
    """The dtype called `dtype`, None for "auto". Raises BadModel for an unknown name."""
    if not isinstance(dtype, str) or dtype not in ("auto", *DTYPES):
        raise BadModel(f"dtype {shown(dtype)} is not one of auto, {', '.join(DTYPES)}")
    return DTYPES.get(dtype)


def local_bytes(folder: Path, title: str = "") -> int:
    """Total bytes of the weight files in `folder`. Raises BadModel if no complete set of
    safetensors files is there."""
    return sum(path.stat().st_size for path in weight_paths(folder, title or folder.name))


def refused(what: str, load: Callable[[], Any]) -> Any:
    """The result of `load()`. An exception of another library becomes OutOfMemory if memory ran
    out, otherwise BadModel. The message is `what` and the reason. SequoiaErrors, KeyboardInterrupt
    and SystemExit pass unchanged."""
    try:
        return load()
    except SequoiaError:
        raise
    except BaseException as problem:
        if is_out_of_memory(problem):
            raise OutOfMemory(f"{what}: {reason(problem)}") from None
        if not isinstance(problem, Exception) and not panicked(problem):
            raise
        raise BadModel(f"{what}: {reason(problem)}") from problem
