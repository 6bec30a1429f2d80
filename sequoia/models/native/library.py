"""Compiles llama_pass.cpp for this machine at first use, and keeps the library in the user's own
cache folder. It takes about ten seconds, once."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

_SOURCE = Path(__file__).with_name("llama_pass.cpp")
_SOURCES = sorted(_SOURCE.parent.glob("*.[ch]*"))
_COMPILERS = ("c++", "g++", "clang++")
# "off": the library is never used. "kept": only if it was compiled before.
_SETTING = "SEQUOIA_NATIVE"
_SECONDS = 120
_log = logging.getLogger(__name__)


class NoLibrary(Exception):
    """There is no native library. The message says why."""


def do_not_compile() -> None:
    """From now on, use the library only if it was compiled before."""
    os.environ.setdefault(_SETTING, "kept")


@lru_cache(maxsize=1)
def native_library() -> ctypes.CDLL:
    """The compiled library. Raises NoLibrary."""
    setting = os.environ.get(_SETTING, "")
    if setting == "off":
        raise NoLibrary(f"the environment variable {_SETTING} is off")
    command = _command()
    path = _folder() / f"llama_pass-{_key(command)}.so"
    if not path.exists():
        if setting == "kept":
            raise NoLibrary("the native pass was not compiled before, and may not be compiled now")
        _compile(command, path)
    try:
        return ctypes.CDLL(str(path))
    except OSError as problem:
        raise NoLibrary(f"the compiled native pass cannot be loaded: {problem}") from None


def _command() -> list[str]:
    """The compiler with its options. Raises NoLibrary if there is none."""
    given = os.environ.get("CXX")
    compiler = next(filter(shutil.which, [given] if given else _COMPILERS), None)
    if not compiler:
        raise NoLibrary(f"no C++ compiler was found (looked for {given or ', '.join(_COMPILERS)})")
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    tuned = "-march=native" if is_x86 else "-mcpu=native"
    return [compiler, *shlex.split(f"-std=c++20 -O3 {tuned} -shared -fPIC -pthread")]


def _key(command: list[str]) -> str:
    """Differs between sources, compilers, and CPUs with other instructions."""
    macros = _output([*command, "-dM", "-E", "-x", "c++", os.devnull])
    sources = b"".join(source.read_bytes() for source in _SOURCES)
    return hashlib.sha256(sources + macros.encode()).hexdigest()[:24]


def _folder() -> Path:
    """The cache folder, which only this user may write to: its files are run. Raises NoLibrary."""
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(f"{caches}/sequoia").expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.stat()
    except OSError as problem:
        raise NoLibrary(f"there is no cache folder for the native pass: {problem}") from None
    if info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NoLibrary(f"others may write to {folder}, so no program is run from there")
    return folder


def _compile(command: list[str], path: Path) -> None:
    """Raises NoLibrary."""
    _log.info("compiling the native pass for this CPU, once")
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        _output([*command, str(_SOURCE), "-o", str(made)])
        made.replace(path)  # at once, as another process may be doing the same


def _output(command: list[str]) -> str:
    """What `command` prints. Raises NoLibrary if it fails."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_SECONDS
        ).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        words = (getattr(problem, "stderr", "") or str(problem)).strip().splitlines()
        raise NoLibrary(f"{command[0]} failed: {words[0] if words else problem}") from None
