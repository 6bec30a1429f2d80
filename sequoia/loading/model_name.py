"""What a person writes for a model: a folder, a Hugging Face id, or what can only mean one of them
(an address of the hub, `~`, blanks or quotes around a name). All else is refused with the cause."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sequoia.errors import BadModel
from sequoia.loading.model_files import is_hub_id
from sequoia.validate_input import shown

_LONGEST = 500
# Blanks, quotes and the like that are copied together with a name.
_AROUND = " \t\r\n\f\v\u00a0\u200b\u200e\u200f\u2060\ufeff\"'`“”„‘’«»<>,;"
_HUB = re.compile(
    r"(?:(?:https?:)?//(?:[^/@]*@)?|git@)?(?:www\.)?(?:huggingface\.co|hf\.co|hf-mirror\.com)(?:[/:](.*))?"
    r"|hf://(.*)",
    re.IGNORECASE | re.DOTALL,
)
# the path of a page of the hub that shows files of a model: owner/name/tree/main
_FILES_PAGE = re.compile(r"[\w.-]+/[\w.-]+/(tree|blob|resolve|raw|commits?)/.*")
_SHOWS_FILES = ("tree", "blob", "resolve", "raw", "commit", "commits")
_NO_MODEL = ("datasets", "spaces", "collections", "papers", "docs", "blog")
_TAG = re.compile(r"(?:[\w.-]+/)*[\w.-]+:([\w.-]+)")
_REVISION = re.compile(r"([\w.-]+(?:/[\w.-]+)?)@(\S+)")
_SITE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_WINDOWS = re.compile(r"[A-Za-z]:[\\/].*|.*\\.*", re.DOTALL)
_GGUF = (
    "is a GGUF file, the format of llama.cpp and Ollama, which cannot be loaded here; give the "
    "model that it was made from (a folder or an id with safetensors weights)"
)


def checked_name(ref: Any) -> str:
    """The folder or hub id that `ref` means. The folder exists; whether the hub has the id is not
    looked up. Raises BadModel with the cause if it means neither."""
    written = os.fspath(ref) if isinstance(ref, os.PathLike) else ref
    if not isinstance(written, str) or not written.strip(_AROUND) or len(written) > _LONGEST:
        raise BadModel(
            f"a model is named by a folder or a Hugging Face id (1 to {_LONGEST} characters), not "
            f"{shown(ref)}"
        )
    if _exists(written, Path.is_dir):
        return written
    name = _path(written.strip(_AROUND))
    if _exists(name, Path.is_dir):
        return name
    if (found := _HUB.fullmatch(name)) or _FILES_PAGE.fullmatch(name):
        name = _id_in_address((found[1] or found[2] or "") if found else name, name)
    name = name.rstrip("/").removesuffix("@main")
    if reason := _file(name):
        raise BadModel(f"{_quoted(name)} {reason}")
    if is_hub_id(name) and name.split("/")[0] not in _NO_MODEL:
        return name
    raise BadModel(f"{_quoted(name)} {_why_not(name)}")


def _path(name: str) -> str:
    """`name` with ~ as the home folder, and without the file:// of a folder's address."""
    if name.lower().startswith("file://"):
        name = unquote(name[len("file://") :])
    if name.startswith("~"):
        with suppress(RuntimeError):  # there is no such user
            return str(Path(name).expanduser())
    return name


def _exists(name: str, is_one: Any) -> bool:
    try:
        return is_one(Path(name))
    except OSError as problem:
        raise BadModel(f"{_quoted(name)} cannot be opened ({problem.strerror})") from None
    except ValueError:  # a zero byte
        return False


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 200 else "…" + name[-200:]).replace("\\\\", "\\")


def _id_in_address(path: str, address: str) -> str:
    """The model's id in the `path` of an address of the hub. Raises BadModel if the address shows
    something else than a model's newest files."""
    parts = [unquote(part) for part in re.split("[?#]", path)[0].split("/") if part]
    while parts and parts[0] in ("api", "models"):
        parts = parts[1:]
    if not parts:
        raise BadModel(f"{_quoted(address)} names no model; a model's id is owner/name")
    if parts[0] in _NO_MODEL:
        raise BadModel(f"{_quoted(address)} {_no_model(parts[0])}")
    count = 1 if len(parts) > 1 and parts[1] in _SHOWS_FILES else 2
    name = "/".join(parts[:count]).removesuffix(".git")
    page, revision, *inner = (*parts[count:], "", "")[: max(2, len(parts) - count)]
    if page not in _SHOWS_FILES:
        return name
    if inner and inner[-1].lower().endswith(".gguf"):
        raise BadModel(f"{_quoted(address)} {_GGUF}")
    if revision not in ("", "main"):
        raise BadModel(f"{_quoted(address)} {_other_revision(name, revision)}")
    if len(inner) > (page != "tree"):
        raise BadModel(
            f"{_quoted(address)} leads into a sub-folder of {name}; only the files at the top are "
            f"looked up: give {name}, or download the sub-folder and give its path"
        )
    return name


def _no_model(kind: str) -> str:
    return f"is an address under {kind} of the hub, not a model; give a model's id, owner/name"


def _other_revision(name: str, revision: str) -> str:
    return (
        f"names the revision {revision[:80]}; only the newest one is looked up: give {name}, or "
        f"download it with `hf download {name} --revision {revision[:80]} --local-dir FOLDER` and "
        "give that folder"
    )


def _file(name: str) -> str:
    """What to give instead of the file `name`; "" if it is none."""
    if name.lower().endswith(".gguf"):
        return _GGUF
    if _exists(name, Path.is_file):
        return f"is a file; give the model's folder, {_quoted(str(Path(name).parent))}"
    if name.lower().endswith(".safetensors"):
        return "is no folder, and there is no such file; give the model's folder or id"
    return ""


def _why_not(name: str) -> str:
    """Why `name`, which is neither a folder nor an id, cannot be a model."""
    if name.split("/")[0] in _NO_MODEL:
        return _no_model(name.split("/")[0])
    if _SITE.match(name):
        return (
            "is neither a folder nor a Hugging Face id, but an address elsewhere; download the "
            "model and give its folder"
        )
    if os.name != "nt" and _WINDOWS.fullmatch(name):
        return (
            "is a Windows path; give the folder as this system writes it, with slashes (under WSL, "
            "drive C: is /mnt/c)"
        )
    if tag := _TAG.fullmatch(name):
        return (
            f"ends in a tag ({tag[1]}), which names a quantised GGUF file in Ollama and llama.cpp; "
            "those cannot be loaded here: give the id of the model with safetensors weights, "
            "without a tag"
        )
    if at := _REVISION.fullmatch(name):
        return _other_revision(at[1], at[2])
    return "is neither a folder nor a Hugging Face id (usually owner/name)"
