"""Folders and repositories that hold no model with safetensors weights, or quantised ones. Each is
refused with the cause, in the same words for a folder and for the hub, before weights are read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from fake_hub import FakeHub
from safetensors.torch import load_file, save_file

from sequoia import load_pair
from sequoia.errors import BadModel, NotDownloaded
from sequoia.loading.download import Downloads
from sequoia.loading.model_checks import check_source

Spoil = Callable[[Path], None]
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
NAME = "model.layers.0.self_attn.q_proj"


def only(*files: str) -> Spoil:
    """Leaves config and tokenizer, and adds `files` in place of the weights."""

    def spoil(folder: Path) -> None:
        (folder / WEIGHTS).unlink()
        _add(folder, files)

    return spoil


def nothing_but(*files: str) -> Spoil:
    def spoil(folder: Path) -> None:
        for path in folder.iterdir():
            path.unlink()
        _add(folder, files)

    return spoil


def _add(folder: Path, files: tuple[str, ...]) -> None:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("{}")


def adapter(**config: str) -> Spoil:
    def spoil(folder: Path) -> None:
        nothing_but("adapter_model.safetensors", "README.md")(folder)
        (folder / "adapter_config.json").write_text(json.dumps(config))

    return spoil


def adapter_beside(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')


OTHERS: dict[str, tuple[Spoil, str]] = {
    "LoRA": (
        adapter(peft_type="LORA", base_model_name_or_path="meta-llama/Llama-3.1-8B"),
        r"is a LoRA adapter of the model 'meta-llama/Llama-3\.1-8B' \(adapter_config\.json\)",
    ),
    "adapter beside the model": (adapter_beside, "is a LoRA adapter"),
    "GGUF": (
        only("model.Q4_K_M.gguf", "model.Q8_0.gguf"),
        r"but GGUF files, .*llama\.cpp.* \(model\.Q4_K_M\.gguf, model\.Q8_0\.gguf\)",
    ),
    "pickles": (
        only("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"),
        "but pickles, which can run code",
    ),
    "TensorFlow": (only("tf_model.h5"), "but TensorFlow files"),
    "MLX of old": (only("weights.npz"), "but NumPy files"),
    "tokenizer only": (
        nothing_but("tokenizer.json", "tokenizer_config.json"),
        r"has no config\.json, .*; it contains tokenizer\.json, tokenizer_config\.json$",
    ),
    "config and tokenizer": (only(), r"has no weights: no \.safetensors file, only config\.json"),
    "training state": (only("training_args.bin", "optimizer.pt"), "has no weights"),
    "images": (nothing_but("model_index.json", "unet/config.json"), "for images"),
    "checkpoints of a training run": (
        nothing_but("checkpoint-10/config.json", "checkpoint-20/config.json"),
        "its sub-folders have one: checkpoint-10, checkpoint-20",
    ),
    "GPTQ's file": (lambda folder: _add(folder, ("quantize_config.json",)), r"quantised \(GPTQ: "),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_folder_and_the_hub_give_the_same_cause(
    what: str, folder: Path, good: Path, hub: FakeHub
) -> None:
    spoil, cause = OTHERS[what]
    spoil(folder)
    with pytest.raises(BadModel, match=cause) as local:
        load_pair(target=str(folder), draft=str(good), device="cpu")
    with pytest.raises(BadModel, match=cause) as distant:
        load_pair(target="owner/model", draft=str(good), device="cpu", online=True)
    assert str(distant.value) == str(local.value).replace("model ", "owner/model ", 1)
    assert len(str(local.value)) < 400
    assert not [path for path in hub.files_asked if path.endswith((".safetensors", ".bin"))]


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=r"has no config\.json, .*; it contains no files$"):
        check_source("m", tmp_path)


@pytest.mark.parametrize("file", ["model.gguf", "pytorch_model.bin"])
def test_other_formats_beside_safetensors_do_no_harm(file: str, folder: Path) -> None:
    (folder / file).write_bytes(b"")
    check_source("m", folder)


def test_a_folder_of_the_cache_names_the_id(tmp_path: Path, good: Path) -> None:
    folder = tmp_path / "models--owner--model"
    shutil.copytree(good, folder / "snapshots" / ("a" * 40))
    with pytest.raises(BadModel, match=r"a folder of the hub's cache; give .* 'owner/model'"):
        check_source("m", folder)


def test_offline_a_cached_copy_of_another_kind_is_named(hub: FakeHub, tmp_path: Path) -> None:
    snapshot = tmp_path / "cache" / "models--owner--model" / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    with Downloads(online=False) as downloads:
        with pytest.raises(NotDownloaded, match="OFFLINE"):
            downloads.locate("owner/model")
        (snapshot / "x.gguf").write_bytes(b"")
        with pytest.raises(BadModel, match=r"owner/model in the hub's cache has .*GGUF files"):
            downloads.locate("owner/model")


# -- quantised weights without a word in the config ------------------------------------------------

I32 = torch.ones(4, 4, dtype=torch.int32)
I8 = torch.ones(4, 4, dtype=torch.int8)
U8 = torch.ones(4, 4, dtype=torch.uint8)
U32 = torch.ones(4, 4, dtype=torch.uint32)
F8 = torch.ones(4, 4).to(torch.float8_e4m3fn)
F16 = torch.ones(4, 4, dtype=torch.float16)
QUANTISED = {
    "GPTQ": ({"qweight": I32, "qzeros": I32, "scales": F16, "g_idx": I32}, "GPTQ: "),
    "AWQ": ({"qweight": I32, "qzeros": I32, "scales": F16}, "GPTQ or AWQ: "),
    "MLX": ({"weight": U32, "scales": F16, "biases": F16}, "MLX: "),
    "FP8 in blocks": ({"weight": F8, "weight_scale_inv": F16}, "FP8: "),
    "int8": ({"weight": I8, "weight_scale": F16}, "FP8 or int8: "),
    "compressed-tensors": ({"weight_packed": I32, "weight_shape": I32}, "compressed-tensors: "),
    "NVFP4": ({"weight": U8, "weight_scale": F8, "weight_scale_2": F16}, "NVFP4: "),
    "bitsandbytes 4 bits": (
        {"weight": U8, "weight.absmax": U8, "weight.quant_state.bitsandbytes__nf4": U8},
        "bitsandbytes: ",
    ),
    "EXL3": ({"trellis": I32, "suh": F16, "svh": F16}, "EXL2 or EXL3: "),
    "HQQ": ({"W_q": U8, "meta": F16}, "HQQ: "),
    "quanto": ({"weight._data": I8, "weight._scale": F16}, "quanto or torchao: "),
    "MXFP4": ({"gate_up_proj_blocks": U8, "gate_up_proj_scales": U8}, "MXFP4: "),
    "unknown": ({"weight": U8}, "its tensor .* has dtype U8"),
}


def quantise(folder: Path, parts: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Replaces a matrix in the folder's weights by `parts`, and returns all tensors."""
    tensors = load_file(folder / WEIGHTS)
    del tensors[f"{NAME}.weight"]
    tensors |= {f"{NAME}.{name}": tensor.clone() for name, tensor in parts.items()}
    save_file(tensors, folder / WEIGHTS, {"format": "pt"})
    return tensors


def index_of(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Renames the weights to those of an index."""
    shard = "model-00001-of-00001.safetensors"
    (folder / WEIGHTS).rename(folder / shard)
    index = {"metadata": {}, "weight_map": dict.fromkeys(tensors, shard)}
    (folder / INDEX).write_text(json.dumps(index))


@pytest.mark.parametrize("method", QUANTISED)
def test_quantised_weights_are_recognised_by_their_tensors(method: str, folder: Path) -> None:
    parts, cause = QUANTISED[method]
    quantise(folder, parts)
    with pytest.raises(BadModel, match=rf"^m is quantised \({cause}.*; choose a model whose"):
        check_source("m", folder)


@pytest.mark.parametrize("method", ["GPTQ", "MLX"])
def test_the_names_in_the_index_suffice(method: str, folder: Path, hub: FakeHub) -> None:
    parts, cause = QUANTISED[method]
    tensors = quantise(folder, parts)
    index_of(folder, tensors)
    with Downloads(online=True) as downloads, pytest.raises(BadModel, match=cause):
        downloads.locate("owner/model")
    assert not [path for path in hub.files_asked if path.endswith(".safetensors")]


def test_a_quantised_model_in_the_cache_is_named_offline(
    folder: Path, tmp_path: Path, hub: FakeHub, good: Path
) -> None:
    index_of(folder, quantise(folder, QUANTISED["FP8 in blocks"][0]))
    shutil.copytree(folder, tmp_path / "cache/models--owner--model/snapshots" / ("a" * 40))
    with pytest.raises(BadModel, match=r"owner/model is quantised \(FP8: "):
        load_pair(target="owner/model", draft=str(good), device="cpu", online=False)


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        ("quantization", {"group_size": 64, "bits": 4}, r"\(MLX\)"),
        ("quantization_config", {"quant_method": "gptq"}, r"\('gptq'\)"),
        ("text_config", {"quantization_config": {"quant_method": "fp8"}}, r"\('fp8'\)"),
    ],
)
def test_quantised_weights_are_recognised_by_the_config(
    field: str, value: object, cause: str, folder: Path
) -> None:
    config = json.loads((folder / "config.json").read_text()) | {field: value}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadModel, match=rf"^m is quantised {cause}; choose a model"):
        check_source("m", folder)
