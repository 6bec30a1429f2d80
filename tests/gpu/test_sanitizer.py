"""Tests of the CUDA kernel that verifies a step by walking down its tree. They run under
NVIDIA's compute-sanitizer, which finds memory errors, races and wrong synchronisation."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = "compute-sanitizer"
_FOUND = 9  # the exit status if the tool found an error; otherwise it is pytest's
_TEST = "tests/guarantee/test_kernel.py"
_CHOSEN = "kernel_walks and gpu and 4097"


@pytest.mark.gpu
@pytest.mark.skipif(not shutil.which(TOOL), reason=f"needs NVIDIA's {TOOL}")
@pytest.mark.parametrize("check", ["memcheck", "racecheck", "synccheck"])
def test_the_sanitizer_finds_no_error_in_the_kernel(check: str) -> None:
    watched = [TOOL, "--tool", check, "--error-exitcode", str(_FOUND), sys.executable]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", _CHOSEN, str(ROOT / _TEST)]
    config = ["-c", str(ROOT / ".pytest.ini"), "--rootdir", str(ROOT)]
    assert not subprocess.run([*watched, *tests, *config], check=False).returncode
