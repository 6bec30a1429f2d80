"""Which files hold the weights: the same answer for a folder, for the hub's cache and for a listing
of the hub, and the same files that `transformers` reads."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from fake_hub import COMMIT, FakeHub
from safetensors.torch import load_file, save_file

from sequoia import SamplingParams, Tree, load_pair, speculate
from sequoia.errors import BadModel, NotDownloaded
from sequoia.loading.download import Downloads, Progress
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.model_checks import check_source, local_bytes
from sequoia.loading.model_files import INDEX, ONE_FILE, cached, files_in

DIGITS = [f"model-0000{i}-of-000002.safetensors" for i in (1, 2)]  # DeepSeek-R1-Distill, V3
PLAIN = [f"model-{i}-of-2.safetensors" for i in (1, 2)]  # Kimi-K2
USUAL = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
SINGLE = ["model-00001-of-00001.safetensors"]
BELOW = ["weights/part.one.safetensors", "weights/deeper/part_2.safetensors"]
MIXED = ["model-00001-of-00002.safetensors", "experts/model-00002-of-00002.safetensors"]
OWN = ["layers.safetensors", "rest.safetensors"]
FORMS = {
    "other digits": DIGITS,
    "plain numbers": PLAIN,
    "one shard": SINGLE,
    "a sub-folder": BELOW,
    "partly in a sub-folder": MIXED,
    "names of its own": OWN,
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
    return [token for step in steps for token in step.emitted]


@pytest.mark.parametrize("form", FORMS)
def test_the_weights_are_the_files_that_the_index_names(form: str, folder: Path) -> None:
    split(folder, FORMS[form])
    stale(folder, ["model-00001-of-00009.safetensors", "consolidated.safetensors"])
    assert files_in(folder, "m").weights == sorted(FORMS[form])
    assert local_bytes(folder) == sum((folder / file).stat().st_size for file in FORMS[form])


@pytest.mark.parametrize("form", ["other digits", "partly in a sub-folder"])
def test_exactly_these_files_are_downloaded_and_counted(
    form: str, folder: Path, good: Path, hub: FakeHub
) -> None:
    split(folder, FORMS[form])
    stale(folder, ["model-00001-of-00009.safetensors", "consolidated.safetensors"])
    with Downloads(online=True) as downloads:
        listing = downloads.locate("owner/model")
        assert listing.weights == set(FORMS[form])
        assert listing.weight_bytes == local_bytes(folder)
    reported: list[LoadNews] = []
    pair = load_pair(
        target="owner/model",
        draft=str(good),
        device="cpu",
        dtype="float32",
        online=True,
        on_progress=reported.append,
    )
    assert pair.target.name == "owner/model"
    asked = {path.split(f"/resolve/{COMMIT}/")[1] for path in hub.files_asked}
    assert {name for name in asked if name.endswith(".safetensors")} == set(FORMS[form])
    totals = {news.total for news in reported if isinstance(news, Progress)}
    small = sum(path.stat().st_size for path in folder.glob("*.json*"))
    assert totals == {listing.weight_bytes + small}
    hub.asked.clear()
    here = cached("owner/model")
    assert here is not None
    assert files_in(here, "m").weights == sorted(FORMS[form])
    assert emitted("owner/model", good) == emitted(str(good), good)
    assert not hub.asked


def test_one_file_is_preferred_as_transformers_does(folder: Path, good: Path) -> None:
    split(folder, USUAL)
    stale(folder, USUAL)
    shutil.copy(good / ONE_FILE, folder / ONE_FILE)
    assert files_in(folder, "m").weights == [ONE_FILE]
    assert emitted(str(folder), good) == emitted(str(good), good)


def test_one_file_is_preferred_on_the_hub_too(folder: Path, good: Path, hub: FakeHub) -> None:
    split(folder, USUAL)
    shutil.copy(good / ONE_FILE, folder / ONE_FILE)
    with Downloads(online=True) as downloads:
        assert downloads.locate("owner/model").weights == {ONE_FILE}
    assert not hub.files_asked, "the index is needed only if there is no model.safetensors"


# -- what is refused, in the same words everywhere -------------------------------------------------


def remove_index(folder: Path) -> None:
    split(folder, USUAL)
    (folder / INDEX).unlink()


def remove_shard(folder: Path) -> None:
    split(folder, USUAL)
    (folder / USUAL[1]).unlink()


def rename_one(folder: Path) -> None:
    (folder / ONE_FILE).rename(folder / "consolidated.safetensors")


def mapped(file: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        split(folder, USUAL)
        index = json.loads((folder / INDEX).read_text())
        index["weight_map"]["lm_head.weight"] = file
        (folder / INDEX).write_text(json.dumps(index))

    return spoil


def move_below(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / ONE_FILE).rename(folder / "sub" / ONE_FILE)


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "shards without an index": (
        remove_index,
        "has model-00001-of-00002.safetensors, model-00002-of-00002.safetensors, but neither "
        "model.safetensors nor",
    ),
    "a shard that is missing": (
        remove_shard,
        "names 'model-00002-of-00002.safetensors', which is not",
    ),
    "another name": (rename_one, "has consolidated.safetensors, but neither"),
    "a sub-folder": (move_below, "has sub/model.safetensors, but neither"),
    "nothing": (lambda folder: (folder / ONE_FILE).unlink(), "has no weights"),
    "a path upward": (mapped("../x.safetensors"), "names '../x.safetensors', which is not a"),
    "a pickle": (mapped("model.bin"), "names 'model.bin', which is not a .safetensors file"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_folder_and_the_hub_give_the_same_refusal(what: str, folder: Path, hub: FakeHub) -> None:
    spoil, cause = REFUSED[what]
    (folder.parent / "x.safetensors").write_bytes(b"")
    spoil(folder)
    with pytest.raises(BadModel) as local:
        check_source("owner/model", folder)
    with Downloads(online=True) as downloads, pytest.raises(BadModel) as distant:
        downloads.locate("owner/model")
    assert cause in str(local.value)
    assert str(local.value).removeprefix("owner/model") == str(distant.value).removeprefix(
        "owner/model"
    )
    assert not [path for path in hub.files_asked if path.endswith(".safetensors")]


def test_links_may_lead_out_of_the_folder(folder: Path, good: Path, tmp_path: Path) -> None:
    split(folder, BELOW)
    for name in (BELOW[1], "config.json"):
        (folder / name).rename(tmp_path / "elsewhere")
        (folder / name).symlink_to(tmp_path / "elsewhere")
        assert emitted(str(folder), good) == emitted(str(good), good)
        (folder / name).unlink()
        (tmp_path / "elsewhere").rename(folder / name)


def test_special_files_in_a_sub_folder_are_not_opened(folder: Path) -> None:
    split(folder, BELOW)
    (folder / BELOW[0]).unlink()
    os.mkfifo(folder / BELOW[0])
    with pytest.raises(BadModel, match=r"names 'weights/part\.one\.safetensors', which is not"):
        check_source("m", folder)


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
