"""Which files hold a model's weights, and what is no model with plain safetensors weights: the same
answer for a folder, for the hub's cache and for a listing of the hub, before weights are read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import decoded
import pytest
import torch
from fake_hub import COMMIT, FakeHub
from safetensors.torch import load_file, save_file

from sequoia import SamplingParams, Tree, load_pair, speculate
from sequoia.errors import BadModel, NotDownloaded
from sequoia.loading.download import DownloadProgress, Downloads
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.model_checks import check_source, local_bytes
from sequoia.loading.model_files import INDEX, ONE_FILE, cached, files_in

Spoil = Callable[[Path], None]
USUAL = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
BELOW = ["weights/part.one.safetensors", "weights/deeper/part_2.safetensors"]
FORMS = {
    "other digits": [f"model-0000{i}-of-000002.safetensors" for i in (1, 2)],  # DeepSeek-V3
    "plain numbers": [f"model-{i}-of-2.safetensors" for i in (1, 2)],  # Kimi-K2
    "a sub-folder": BELOW,
    "partly in a sub-folder": [USUAL[0], f"experts/{USUAL[1]}"],
}


def split(folder: Path, files: list[str]) -> None:
    """Stores the tensors of the folder's model.safetensors in `files`, with an index."""
    tensors = load_file(folder / ONE_FILE)
    (folder / ONE_FILE).unlink()
    where = {name: files[number % len(files)] for number, name in enumerate(sorted(tensors))}
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        kept = {name: tensors[name] for name in where if where[name] == file}
        save_file(kept, folder / file, {"format": "pt"})
    index = {"metadata": {"total_size": 1}, "weight_map": where}
    (folder / INDEX).write_text(json.dumps(index))


def stale(folder: Path, files: list[str]) -> None:
    """Adds files that hold wrong tensors under right names."""
    for file in files:
        save_file({"model.norm.weight": torch.full((3,), 7.0)}, folder / file, {"format": "pt"})


def emitted(target: str, good: Path) -> list[int]:
    pair = load_pair(
        target=target, draft=str(good), device="cpu", dtype="float32", on_progress=lambda _: None
    )
    steps = speculate(pair, "def f(x):", SamplingParams(max_new_tokens=4), Tree.kary(2, 2))
    return decoded.emitted(steps)


@pytest.mark.parametrize("form", FORMS)
def test_the_weights_are_the_files_that_the_index_names(form: str, folder: Path) -> None:
    split(folder, FORMS[form])
    stale(folder, ["model-00001-of-00009.safetensors", "consolidated.safetensors"])
    assert files_in(folder, "m").weights == sorted(FORMS[form])
    assert local_bytes(folder) == sum((folder / file).stat().st_size for file in FORMS[form])


def test_exactly_these_files_are_downloaded_and_counted(
    folder: Path, good: Path, hub: FakeHub
) -> None:
    files = FORMS["partly in a sub-folder"]
    split(folder, files)
    add("pytorch_model.bin", "README.md")(folder)
    stale(folder, ["model-00001-of-00009.safetensors", "consolidated.safetensors"])
    reported: list[LoadNews] = []
    load_pair(
        target="owner/model",
        draft=str(good),
        device="cpu",
        dtype="float32",
        online=True,
        on_progress=reported.append,
    )
    asked = {path.split(f"/resolve/{COMMIT}/")[1] for path in hub.files_asked}
    assert {name for name in asked if name.endswith(".safetensors")} == set(files)
    assert not asked & {"pytorch_model.bin", "README.md"}
    totals = {news.total for news in reported if isinstance(news, DownloadProgress)}
    small = sum(path.stat().st_size for path in folder.glob("*.json*"))
    assert totals == {local_bytes(folder) + small}
    hub.asked.clear()
    assert emitted("owner/model", good) == emitted(str(good), good)
    assert not hub.asked


def test_one_file_is_preferred_as_transformers_does(folder: Path, good: Path, hub: FakeHub) -> None:
    split(folder, USUAL)
    stale(folder, USUAL)
    shutil.copy(good / ONE_FILE, folder / ONE_FILE)
    assert files_in(folder, "m").weights == [ONE_FILE]
    assert emitted(str(folder), good) == emitted(str(good), good)
    with Downloads(online=True) as downloads:
        assert downloads.locate("owner/model").weights == {ONE_FILE}
    assert not hub.files_asked, "the index is needed only if there is no model.safetensors"


def test_an_incomplete_copy_in_the_cache_is_not_used(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    split(folder, BELOW)
    snapshot = tmp_path / "cache" / "models--owner--model" / "snapshots" / ("a" * 40)
    shutil.copytree(folder, snapshot)
    assert cached("owner/model") == snapshot
    (snapshot / BELOW[1]).unlink()
    assert cached("owner/model") is None
    with Downloads(online=False) as downloads, pytest.raises(NotDownloaded, match="OFFLINE"):
        downloads.locate("owner/model")


def test_links_may_lead_out_of_the_folder(folder: Path, good: Path, tmp_path: Path) -> None:
    split(folder, BELOW)
    for name in (BELOW[1], "config.json"):
        (folder / name).rename(tmp_path / Path(name).name)
        (folder / name).symlink_to(tmp_path / Path(name).name)
    assert emitted(str(folder), good) == emitted(str(good), good)


# -- what is refused, in the same words everywhere -------------------------------------------------


def only(*files: str) -> Spoil:
    """Leaves config and tokenizer, and adds `files` in place of the weights."""

    def spoil(folder: Path) -> None:
        (folder / ONE_FILE).unlink()
        add(*files)(folder)

    return spoil


def nothing_but(*files: str) -> Spoil:
    def spoil(folder: Path) -> None:
        for path in folder.iterdir():
            path.unlink()
        add(*files)(folder)

    return spoil


def add(*files: str) -> Spoil:
    def spoil(folder: Path) -> None:
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("{}")

    return spoil


def mapped(file: str) -> Spoil:
    def spoil(folder: Path) -> None:
        split(folder, USUAL)
        index = json.loads((folder / INDEX).read_text())
        index["weight_map"]["lm_head.weight"] = file
        (folder / INDEX).write_text(json.dumps(index))

    return spoil


def without(file: str) -> Spoil:
    def spoil(folder: Path) -> None:
        split(folder, USUAL)
        (folder / file).unlink()

    return spoil


REFUSED: dict[str, tuple[Spoil, str]] = {
    "adapter": (add("adapter_config.json"), r"is an adapter \(adapter_config\.json\); merge it"),
    "GGUF": (only("m.Q4_K_M.gguf"), r"has no weights: .* config\.json, .*; other formats"),
    "tokenizer only": (
        nothing_but("tokenizer.json", "tokenizer_config.json"),
        r"has no config\.json, .*; it contains tokenizer\.json, tokenizer_config\.json$",
    ),
    "shards without an index": (
        without(INDEX),
        "has model-00001-of-00002.safetensors, model-00002-of-00002.safetensors, but neither "
        "model.safetensors nor",
    ),
    "a shard that is missing": (without(USUAL[1]), f"names '{USUAL[1]}', which is not"),
    "a sub-folder": (only("sub/model.safetensors"), "has sub/model.safetensors, but neither"),
    "a path upward": (mapped("../x.safetensors"), "names '../x.safetensors', which is not there"),
    "a pickle": (mapped("model.bin"), "names 'model.bin', which is not a .safetensors file"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_folder_and_the_hub_give_the_same_cause(what: str, folder: Path, hub: FakeHub) -> None:
    spoil, cause = REFUSED[what]
    (folder.parent / "x.safetensors").write_bytes(b"")
    spoil(folder)
    with pytest.raises(BadModel, match=cause) as local:
        check_source("owner/model", folder)
    with Downloads(online=True) as downloads, pytest.raises(BadModel) as distant:
        downloads.locate("owner/model")
    assert str(distant.value) == str(local.value)
    assert len(str(local.value)) < 400
    assert not [path for path in hub.files_asked if path.endswith((".safetensors", ".bin"))]


def test_other_formats_beside_safetensors_do_no_harm(folder: Path) -> None:
    add("model.gguf", "pytorch_model.bin")(folder)
    check_source("m", folder)


# -- quantised weights -----------------------------------------------------------------------------

MATRIX = "model.layers.0.self_attn.q_proj"


def quantise(folder: Path, parts: str, dtype: torch.dtype) -> None:
    tensors = load_file(folder / ONE_FILE)
    del tensors[f"{MATRIX}.weight"]
    tensors |= {f"{MATRIX}.{name}": torch.ones(4, 4, dtype=dtype) for name in parts.split()}
    save_file(tensors, folder / ONE_FILE, {"format": "pt"})


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint32, torch.float8_e4m3fn])
def test_quantised_weights_are_recognised_by_their_dtype(dtype: torch.dtype, folder: Path) -> None:
    quantise(folder, "weight scales biases", dtype)
    with pytest.raises(BadModel, match=r"has dtype '[UF](8|32).*'; it must be one of F64, F32"):
        check_source("m", folder)


@pytest.mark.parametrize(
    "fields",
    [
        {"quantization": {"group_size": 64, "bits": 4}},
        {"quantization_config": {"quant_method": "gptq"}},
        {"text_config": {"quantization_config": {"quant_method": "fp8"}}},
    ],
)
def test_quantised_weights_are_recognised_by_the_config(fields: dict, folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text()) | fields
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadModel, match=r"^m is quantised \(its config has a quantization"):
        check_source("m", folder)
