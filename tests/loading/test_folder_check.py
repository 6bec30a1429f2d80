"""Tests the checks of a model's folder that run before any library opens it. Links from the
hub's cache to its blobs pass. Other links out of the folder do not."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import CONFIG_MAPPING, AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from sequoia import load_pair
from sequoia.errors import BadModel
from sequoia.loading.folder_check import check_folder
from sequoia.loading.model_checks import check_source
from sequoia.loading.model_config import check_config
from sequoia.loading.model_files import object_of

COMMIT = "a" * 40


def content_name(path: Path, digits: int = 40) -> str:
    """A name like those of blobs in the hub's cache: a hash, but here of the file's name."""
    return hashlib.sha256(path.name.encode()).hexdigest()[:digits]


def snapshot(cache: Path, good: Path, name: str = "owner--model") -> Path:
    """A model in the hub's cache: links in the snapshot, content in blobs."""
    model = cache / f"models--{name}"
    folder = model / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    (model / "blobs").mkdir()
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT)
    for file in good.iterdir():
        shutil.copy(file, model / "blobs" / content_name(file))
        (folder / file.name).symlink_to(f"../../blobs/{content_name(file)}")
    return folder


def share(cache: Path, folder: Path) -> None:
    """Moves the content of a model to the blobs that all models in the cache share. Newer versions
    of huggingface_hub store it there."""
    for link in folder.iterdir():
        blob = folder / link.readlink()
        name = content_name(link, 64)
        shared = cache / "blobs" / name[:2] / name
        shared.parent.mkdir(parents=True, exist_ok=True)
        blob.resolve().replace(shared)
        blob.symlink_to(os.path.relpath(shared, folder.parent.parent / "blobs"))


# -- links, in the hub's cache and in other folders


@pytest.mark.parametrize("shared", [False, True], ids=["blobs of the model", "blobs of the cache"])
def test_a_pair_loads_from_a_cache_of_links(
    shared: bool, tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = snapshot(tmp_path / "cache", good)
    if shared:
        share(tmp_path / "cache", found)
    assert all(path.is_symlink() and path.is_file() for path in found.iterdir())
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    pair = load_pair(target="owner/model", draft=str(found), device="cpu", dtype="float32")
    assert pair.target.name == "owner/model"


def test_a_folder_that_is_a_link_itself_loads(tmp_path: Path, good: Path) -> None:
    (tmp_path / "link").symlink_to(good)
    assert check_source("link", tmp_path / "link").weight_bytes > 0


def to_another_model(cache: Path, folder: Path) -> str:
    return os.path.relpath(next((cache / "models--other--model" / "blobs").iterdir()), folder)


def to_the_cache(cache: Path, folder: Path) -> str:
    (cache / "secret.json").write_text("{}")
    return "../../../secret.json"


def through_a_linked_blob(cache: Path, folder: Path) -> str:
    (cache.parent / "secret.json").write_text("{}")
    (folder.parent.parent / "blobs" / "way").symlink_to("../../../secret.json")
    return "../../blobs/way"


@pytest.mark.parametrize(
    "lead",
    [to_another_model, to_the_cache, through_a_linked_blob],
)
def test_a_link_in_the_cache_that_leads_elsewhere_is_refused(
    lead: Callable[[Path, Path], str], tmp_path: Path, good: Path
) -> None:
    cache = tmp_path / "cache"
    found = snapshot(cache, good)
    snapshot(cache, good, "other--model")
    (found / "added_tokens.json").symlink_to(lead(cache, found))
    assert (found / "added_tokens.json").is_file()
    with pytest.raises(
        BadModel, match=r"m: added_tokens\.json is a link that leads out of the model's folder"
    ):
        check_folder(found, "m")


def test_blobs_that_are_a_link_to_elsewhere_are_refused(tmp_path: Path, good: Path) -> None:
    found = snapshot(tmp_path / "cache", good)
    blobs = found.parent.parent / "blobs"
    blobs.rename(tmp_path / "elsewhere")
    blobs.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadModel, match="is a link that leads out of the model's folder"):
        check_folder(found, "m")


def test_a_link_inside_a_folder_is_followed(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "config.json").rename(folder / "sub" / "config.json")
    (folder / "config.json").symlink_to("sub/config.json")
    assert check_folder(folder, "m")["model_type"] == "llama"


# -- what the files contain


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**6},
        {"text_config": {"num_hidden_layers": 10**6}},
        {"num_labels": 10**9},
        {"vision_config": {"num_hidden_layers": 10**6}},
        {"model_type": "gpt2", "n_layer": 10**6},
        {"rope_scaling": {"long_factor": [1.0] * 70_000}},
        {"rms_norm_eps": float("nan")},
    ],
)
def test_a_config_out_of_bounds_is_refused_before_a_library_reads_it(
    changes: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AutoConfig, "from_pretrained", lambda *_, **__: pytest.fail("it was read"))
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadModel, match=r"^m: \w+ in its config "):
        check_source("m", folder)


def test_the_bounds_allow_every_model_that_transformers_describes() -> None:
    """The default sizes of a type are usually those of a published model."""
    for kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        if kind == "gemma4_assistant":  # cannot be made without its target's config
            continue
        written = CONFIG_MAPPING[kind]().to_json_string(use_diff=False)
        check_config(object_of(written.encode(), kind, BadModel), kind)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b"\xff{}",
        b'{"a": 1} x',
        b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}",
        b"[" * 10**6,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_not_a_plain_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(BadModel, match=r"^the file (is|has|contains) "):
        object_of(text, "the file", BadModel)


def test_a_plain_json_object_is_read() -> None:
    nested = b'{"a": ' + b"[" * 60 + b"]" * 60 + b', "b": "\xc3\xbc"}'
    assert object_of(nested, "the file", BadModel) == json.loads(nested)
