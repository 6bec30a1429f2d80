"""Selects the files that are needed to load a model, and finds models on this machine. Contacts no
server.

Weights are safetensors only, because other formats can run code. The cache has the layout of
`huggingface_hub`: a folder for each model, with `snapshots/COMMIT/FILE` and `refs/main`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from huggingface_hub import constants

_SMALL = frozenset(
    {
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "tokenizer.model",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "vocab.txt",
        "merges.txt",
        "chat_template.jinja",
        "chat_template.json",
        "model.safetensors.index.json",
    }
)
COMMIT = re.compile(r"[0-9a-f]{40}")
_SHARD = re.compile(r"model-\d{5}-of-(\d{5})\.safetensors")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def is_hub_id(ref: str) -> bool:
    """Whether `ref` has the form of a hub id: "name" or "owner/name"."""
    return bool(_HUB_ID.fullmatch(ref)) and ".." not in ref and "--" not in ref


def small_files(names: Iterable[str]) -> list[str]:
    """The configs, the tokenizer files and the index of the weights among a model's file
    `names`."""
    return sorted(_SMALL.intersection(names))


def weight_files(names: Iterable[str]) -> list[str]:
    """The weight files among a model's file `names`: model.safetensors, or else all shards. Empty
    if there are none, or if a shard is missing."""
    names = set(names)
    if "model.safetensors" in names:
        return ["model.safetensors"]
    shards = {name: int(found[1]) for name in names if (found := _SHARD.fullmatch(name))}
    return sorted(shards) if set(shards.values()) == {len(shards)} else []


def is_whole(folder: Path) -> bool:
    """Whether `folder` has a config, all weight files and, for shards, their index. A folder with a
    broken link among the files to load is not whole."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set[str]()
    weights = weight_files(names)
    if "config.json" not in names or not weights:
        return False
    if not all((folder / name).exists() for name in (*small_files(names), *weights)):
        return False
    return "model.safetensors" in names or "model.safetensors.index.json" in names


def hub_folder(ref: str) -> Path:
    """The folder of the model `ref` in the hub's cache. It may not exist."""
    return Path(constants.HF_HUB_CACHE).expanduser() / f"models--{ref.replace('/', '--')}"


def cached(ref: str, revision: str = "") -> Path | None:
    """The folder of one complete commit of the model `ref` in the hub's cache, or None. Prefers the
    commit `revision`, then the commit in `refs/main`, then the most recently changed folder."""
    base = hub_folder(ref)
    main = base / "refs" / "main"
    known = [revision, main.read_text(encoding="utf-8").strip() if main.is_file() else ""]
    first = [base / "snapshots" / commit for commit in known if COMMIT.fullmatch(commit)]
    others = sorted(
        (base / "snapshots").glob("*"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    return next((folder for folder in [*first, *others] if is_whole(folder)), None)
