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

from sequoia.errors import BadModel
from sequoia.loading.listed_files import files_in
from sequoia.loading.weights.weight_files import INDEX, weight_files

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
        INDEX,
    }
)
COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def is_hub_id(ref: str) -> bool:
    """Whether `ref` has the form of a hub id: "name" or "owner/name"."""
    return bool(_HUB_ID.fullmatch(ref)) and ".." not in ref and "--" not in ref


def small_files(names: Iterable[str]) -> list[str]:
    """The configs, the tokenizer files and the index of the weights among a model's file
    `names`."""
    return sorted(_SMALL.intersection(names))


def is_whole(folder: Path) -> bool:
    """Whether `folder` has a config and all weight files. A folder with a broken link among the
    files to load is not whole."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    try:
        weight_files(files_in(folder, folder.name))
    except BadModel:
        return False
    return "config.json" in names and all((folder / name).exists() for name in small_files(names))


def hub_folder(ref: str) -> Path:
    """The folder of the model `ref` in the hub's cache. It may not exist."""
    return Path(constants.HF_HUB_CACHE).expanduser() / f"models--{ref.replace('/', '--')}"


def cached(ref: str, revision: str = "") -> Path | None:
    """The folder of one complete commit of the model `ref` in the hub's cache, or None. Prefers the
    commit `revision`, then the commit in `refs/main`, then the most recently changed folder."""
    main = hub_folder(ref) / "refs" / "main"
    known = [revision, main.read_text(encoding="utf-8").strip() if main.is_file() else ""]
    first = [hub_folder(ref) / "snapshots" / commit for commit in known if COMMIT.fullmatch(commit)]
    return next((folder for folder in [*first, *snapshots(ref)] if is_whole(folder)), None)


def snapshots(ref: str) -> list[Path]:
    """The folders of the commits of the model `ref` in the hub's cache, complete or not. The most
    recently changed one comes first."""
    found = (hub_folder(ref) / "snapshots").glob("*")
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
