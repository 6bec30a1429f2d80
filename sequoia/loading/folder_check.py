"""Checks a model's folder before any library opens a file in it. Libraries look for files under
many names, so every entry of the folder must be a plain file or a folder, or a link to one. Weights
are not read here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.model_config import check_config, check_token_ids
from sequoia.loading.model_files import files_in, read_bytes, read_object
from sequoia.loading.other_formats import (
    CONFIG,
    refuse_other_formats,
    refuse_without_config,
)

GENERATION = "generation_config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
# Size limits in bytes of the files that are parsed here.
_JSON = {
    CONFIG: 4_000_000,
    GENERATION: 1_000_000,
    TOKENIZER_CONFIG: 16_000_000,
    "special_tokens_map.json": 4_000_000,
    "added_tokens.json": 16_000_000,
}
_MOST_TEMPLATE = 1_000_000
# Size limit in bytes of other files that match _SMALL. The largest published vocabulary has a third
# of this.
_MOST_OTHER = 128_000_000
_SMALL = re.compile(r".*\.(json|txt|model|bpe|jinja|tiktoken)")
_TEMPLATES = "additional_chat_templates"


def check_folder(folder: Path, title: str) -> dict[str, Any]:
    """Check the names and sizes in `folder`, and parse the files in _JSON. Returns the parsed
    config.json. Raises BadModel if there is no config.json, if a parsed file is damaged, or if one
    of the checks fails. title: the model's name in messages."""
    names = _check_entries(folder, title)
    _refuse_cache(folder, title)
    listed = files_in(folder, title)
    refuse_other_formats(listed)
    refuse_without_config(listed)
    found = {
        name: read_object(folder / name, f"{title}: {name}", most, BadModel)
        for name, most in _JSON.items()
        if name in names
    }
    check_config(found[CONFIG], title)
    for name in (CONFIG, GENERATION):
        check_token_ids(found.get(name, {}), title, name)
    _check_tokenizer_config(found.get(TOKENIZER_CONFIG, {}), title)
    return found[CONFIG]


def _refuse_cache(folder: Path, title: str) -> None:
    """Raises BadModel if `folder` is that of a model in the hub's cache, above its snapshots."""
    if folder.name.startswith("models--") and (folder / "snapshots").is_dir():
        name = folder.name.removeprefix("models--").replace("--", "/")
        raise BadModel(
            f"{title} is a folder of the hub's cache; give the model's id, {name!r}, or a folder "
            "in its snapshots"
        )


def _check_entries(folder: Path, title: str) -> set[str]:
    """Names of the files in `folder`. Raises BadModel if `folder` cannot be read, or if an entry in
    it or in its folder of chat templates is refused."""
    try:
        entries = [*sorted(folder.iterdir()), *sorted(folder.glob(f"{_TEMPLATES}/*"))]
        for path in entries:
            if path.is_file():
                _check_size(path, title)
            elif not path.is_dir():
                raise BadModel(f"{title}: {path.name[:80]} is neither a file nor a folder")
    except OSError as problem:
        raise BadModel(f"{title} cannot be read ({problem.strerror})") from None
    return {path.name for path in entries if path.parent == folder and path.is_file()}


def _check_size(path: Path, title: str) -> None:
    """Raises BadModel if the file at `path` is too large for a file without weights."""
    name = path.name
    is_template = name.endswith(".jinja") or name == "chat_template.json"
    most = _MOST_TEMPLATE if is_template else _MOST_OTHER
    if _SMALL.fullmatch(name) and path.stat().st_size > most:
        raise BadModel(
            f"{title}: {name[:80]} has {path.stat().st_size:,} bytes; the limit is {most:,}"
        )


def _check_tokenizer_config(config: dict[str, Any], title: str) -> None:
    """Raises BadModel if a field would make libraries open other files or pass further arguments to
    the tokenizer."""
    for name in ("fast_tokenizer_files", "init_inputs", "gguf_file"):
        if config.get(name):
            raise BadModel(
                f"{title}: its {TOKENIZER_CONFIG} refers to other files or passes arguments "
                f"({name}), which is not allowed; remove this field"
            )


def read_tokenizer(folder: Path, title: str) -> str | None:
    """The text of the folder's tokenizer.json, None if there is none. Raises BadModel if the file
    cannot be read, is too large, or is not UTF-8."""
    if not (folder / TOKENIZER).is_file():
        return None
    data = read_bytes(folder / TOKENIZER, f"{title}: {TOKENIZER}", _MOST_OTHER, BadModel)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadModel(f"{title}: {TOKENIZER} is not UTF-8 text") from None
