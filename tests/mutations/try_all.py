"""Removes each defence listed in threats.py from the code, one at a time, and runs the test that
must then fail.

    python tests/mutations/try_all.py [WORDS]

WORDS: only threats or files with one of these words. The code is changed in a temporary copy only.

First runs the tests of all chosen threats with every defence in place. If a test fails or does not
end, no threat is tried and the exit status is 1. Otherwise removes one defence after
another. A threat is "noticed" if its test then fails or does not end. Prints a line for each
threat. The exit status is 0 if all threats were noticed. Trying all threats takes some minutes.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"

# imported here once, so that the processes forked for the tests need not import them
import gradio
import pytest
import torch
import transformers
from threats import MUTATIONS, Mutation

LIBRARIES = (gradio, torch, transformers)
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300  # for each test; one that takes longer counts as not ending
FAILED = 1  # exit status of pytest if a test failed
LEFT_OUT = {".git", ".venv", "node_modules", ".pytest_cache", ".ruff_cache"}


def copy_of_the_project(folder: Path) -> Path:
    """Copies the project into `folder`, without LEFT_OUT. Returns the copy."""
    return shutil.copytree(ROOT, folder / "copy", ignore=lambda _, names: LEFT_OUT & {*names})


def outcome(mutation: Mutation, copy: Path) -> str:
    """Runs the test without the defence. Returns the result in words."""
    path = copy / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        return "NOT TRIED: the defence does not occur exactly once in its file"
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        status, printed = exit_status([mutation.test], copy)
    finally:
        path.write_text(text, encoding="utf-8")
    if status is None:
        return "noticed: the test does not end"
    return "noticed" if status == FAILED else f"MISSED: exit status {status}, {printed[:80]}"


def exit_status(tests: list[str], copy: Path) -> tuple[int | None, str]:
    """Runs tests in a forked process, in which the libraries are already imported. Returns pytest's
    exit status (None if it takes too long) and what it printed."""
    with tempfile.TemporaryFile() as printed:
        child = multiprocessing.get_context("fork").Process(
            target=_pytest, args=(tests, copy, printed.fileno())
        )
        child.start()
        child.join(SECONDS * len(tests))
        if child.is_alive():
            child.kill()
            return None, ""
        printed.seek(0)
        return child.exitcode, printed.read().decode("utf-8", "replace")


def _pytest(tests: list[str], copy: Path, output: int) -> None:
    os.chdir(copy)
    # Bytecode is reused if a file still has the same size and was last changed in the same second.
    # So it could hide a change.
    sys.dont_write_bytecode = True
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.path[:] = [path for path in sys.path if not path.startswith(str(ROOT / "tests"))]
    os._exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests]))


def main(words: list[str]) -> int:
    chosen = [
        one
        for one in MUTATIONS
        if not words or any(word in one.threat + one.file for word in words)
    ]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of_the_project(Path(folder))
        status, printed = exit_status([*dict.fromkeys(one.test for one in chosen)], copy)
        if status != 0:
            problem = "do not end" if status is None else "fail"
            print(f"{printed}\nThese tests {problem} with all defences in place.")
            return 1
        for one in chosen:
            found = outcome(one, copy)
            missed += not found.startswith("noticed")
            print(f"{found:10} {one.threat} ({one.file}; {one.test})", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
