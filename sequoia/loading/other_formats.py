"""Recognises what is not a model with plain safetensors weights: adapters, weights in other
formats, folders that contain no model, by the names of their files; and quantised weights, by the
config, by files that quantisers write, or by the names and dtypes of the tensors."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.model_files import ListedFiles, first, object_of
from sequoia.this_machine.dtypes import DTYPES
from sequoia.validate_input import shown

CONFIG = "config.json"
_ADAPTER = "adapter_config.json"
_MOST_ADAPTER_BYTES = 4_000_000
_CHOOSE = "choose a version of the model with safetensors weights"
# ends of file names, what the files are, and what to do
_FORMATS = (
    (
        (".gguf", ".ggml"),
        "GGUF files, the format of llama.cpp and Ollama",
        "give the model that they were made from, with safetensors weights",
    ),
    ((".bin", ".pt", ".pth", ".ckpt", ".pkl"), "pickles, which can run code", _CHOOSE),
    ((".onnx", ".onnx_data"), "ONNX files", _CHOOSE),
    ((".h5", ".tflite"), "TensorFlow files", _CHOOSE),
    ((".msgpack",), "Flax files", _CHOOSE),
    ((".npz",), "NumPy files, as MLX wrote them", _CHOOSE),
    ((".nemo",), "NeMo files", _CHOOSE),
)
# written by a training run, without weights
_TRAINING = ("training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.bin", "scheduler.pt")


def refuse_other_formats(files: ListedFiles) -> None:
    """Raises BadModel if the files are those of an adapter or of a quantised model, or if there are
    weights in other formats and none in safetensors files."""
    if _ADAPTER in files.names:
        _refuse_adapter(files)
    refuse_quantised_files(files.names, files.title)
    if not any(name.endswith(".safetensors") for name in files.names):
        _refuse_formats(files)


def refuse_without_config(files: ListedFiles) -> None:
    """Raises BadModel if there is no config.json. The message says what there is."""
    if CONFIG not in files.names:
        raise BadModel(
            f"{files.title} has no {CONFIG}, the file that names the model's type; "
            f"{_contents(files)}"
        )


def _refuse_formats(files: ListedFiles) -> None:
    every = [*files.names, *files.below()]
    for ends, what, advice in _FORMATS:
        found = [name for name in every if name.lower().endswith(ends)]
        if found := [name for name in found if name.rpartition("/")[2] not in _TRAINING]:
            raise BadModel(
                f"{files.title} has no .safetensors file, but {what} ({first(found)}), which are "
                f"not loaded; {advice}"
            )


def _contents(files: ListedFiles) -> str:
    """What there is instead of a config."""
    if "model_index.json" in files.names:
        return "it is a pipeline of several models for images (model_index.json)"
    ends = f"/{CONFIG}"
    if inside := [name.removesuffix(ends) for name in files.below() if name.endswith(ends)]:
        return f"its sub-folders have one: {first(inside)}"
    return f"it contains {first(files.names) or 'no files'}"


def _refuse_adapter(files: ListedFiles) -> None:
    what = f"{files.title}: {_ADAPTER}"
    config = object_of(files.read(_ADAPTER, _MOST_ADAPTER_BYTES), what, BadModel)
    base = config.get("base_model_name_or_path")
    kind = "a LoRA" if str(config.get("peft_type")).upper() == "LORA" else "a PEFT"
    of = f" of the model {shown(base)}" if isinstance(base, str) and base else ""
    raise BadModel(
        f"{files.title} is {kind} adapter{of} ({_ADAPTER}); merge it into that model "
        "(`merge_and_unload` of PEFT), save the result and give its folder"
    )


# fields of a config, and the method of quantisation if the field's value does not name it
_FIELDS = {
    "quantization": "MLX",
    "quantization_config": "",
    "compression_config": "compressed-tensors",
}
_FILES = {
    "quantize_config.json": "GPTQ",
    "quant_config.json": "AWQ",
    "hf_quant_config.json": "NVIDIA ModelOpt",
}
# Ends of the names of tensors that only quantised weights have. The first match counts.
_TENSORS = tuple(
    (re.compile(rf"(\.|_|^)({words})$"), method)
    for words, method in (
        (r"g_idx", "GPTQ"),
        (r"qweight|qzeros", "GPTQ or AWQ"),
        (r"q_weight|q_invperm|q_scale_max|trellis|svh", "EXL2 or EXL3"),
        (r"SCB|weight\.(absmax|quant_map|nested_absmax|quant_state\..*)", "bitsandbytes"),
        (r"weight_packed|weight_shape|weight_zero_point", "compressed-tensors"),
        (r"weight_scale_2", "NVFP4"),
        (r"weight_scale_inv", "FP8"),
        (r"weight_scale", "FP8 or int8"),
        (r"proj_blocks|proj_scales", "MXFP4"),
        (r"W_q", "HQQ"),
        (r"weight\._(data|scale)|weight_qdata", "quanto or torchao"),
        (r"Qidxs", "QuIP"),
    )
)
_FLOAT8 = re.compile(r"F[468](_E\d.*)?")
_WHOLE = ("U32", "I32", "U16", "I16", "U8", "I8")


def refuse_quantised_config(config: Mapping[str, Any], title: str) -> None:
    """Raises BadModel if `config`, or a part of one, has a field that describes quantisation."""
    for name, method in _FIELDS.items():
        described = config.get(name)
        if described is not None:
            stated = described.get("quant_method") if isinstance(described, dict) else None
            raise _quantised(title, shown(stated) if isinstance(stated, str) else method)


def refuse_quantised_files(names: Collection[str], title: str) -> None:
    """Raises BadModel if a quantiser's description is among the `names` of the model's files."""
    for name, method in _FILES.items():
        if name in names:
            raise _quantised(title, f"{method}: it contains {name}")


def refuse_quantised_tensors(dtypes: Mapping[str, Any], title: str) -> None:
    """Raises BadModel if the tensors are those of quantised weights. dtypes: the dtype of each
    tensor by name, as safetensors calls it; "" if it is not known."""
    for sign, method in _TENSORS:
        if found := next(filter(sign.search, dtypes), None):
            raise _quantised(title, f"{method}: it has a tensor {found[:80]}")
    for name, dtype in dtypes.items():
        stem = name.removesuffix("weight")
        if stem != name and {f"{stem}scales", f"{stem}biases"} <= dtypes.keys():
            raise _quantised(title, f"MLX: it has tensors {stem[:80]}scales and biases")
        if isinstance(dtype, str) and _FLOAT8.fullmatch(dtype):
            raise _quantised(title, f"FP{dtype[1]}: its tensor {name[:80]} has dtype {dtype}")
        if name.endswith(".weight") and dtype in _WHOLE:
            method = "MLX: " if dtype == "U32" else ""
            raise _quantised(title, f"{method}its tensor {name[:80]} has dtype {dtype}")


def _quantised(title: str, how: str) -> BadModel:
    return BadModel(
        f"{title} is quantised{f' ({how})' if how else ''}; choose a model whose weights are not "
        f"quantised ({', '.join(DTYPES)})"
    )
