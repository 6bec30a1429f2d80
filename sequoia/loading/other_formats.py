"""Recognises what is not a model with safetensors weights, by the names of its files: adapters,
quantised models, weights in other formats, and folders that contain no model."""

from __future__ import annotations

from sequoia.errors import BadModel
from sequoia.loading.json_file import object_of
from sequoia.loading.listed_files import ListedFiles, first
from sequoia.loading.quantised import refuse_quantised_files
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
