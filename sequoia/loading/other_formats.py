"""Recognises what is not a model in safetensors files by the names of its files: adapters,
quantised models, and weights in other formats."""

from __future__ import annotations

from sequoia.errors import BadModel
from sequoia.loading.json_file import object_of
from sequoia.loading.listed_files import ListedFiles, first
from sequoia.loading.quantised import refuse_quantised_files
from sequoia.validate_input import shown

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
    if any(name.endswith(".safetensors") for name in files.names):
        return
    for ends, what, advice in _FORMATS:
        found = [name for name in files.names if name.lower().endswith(ends)]
        if found := [name for name in found if name not in _TRAINING]:
            raise BadModel(
                f"{files.title} has no .safetensors file, but {what} ({first(found)}), which are "
                f"not loaded; {advice}"
            )


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
