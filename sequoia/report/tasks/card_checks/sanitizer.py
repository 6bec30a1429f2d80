"""Runs tests of the CUDA kernel that verifies a step by walking down its tree. They run under
NVIDIA's compute-sanitizer, which finds memory errors, races and wrong synchronisation."""

from __future__ import annotations

import shutil
import subprocess
import sys

from sequoia.report.child import ROOT
from sequoia.report.tasks.found import Found

TOOL = "compute-sanitizer"
_CHECKS = ("memcheck", "racecheck", "synccheck")
_FOUND = 9  # the exit status if the tool found an error; otherwise it is pytest's
_TEST = "tests/decoding/cuda/test_cuda_step.py"
_CHOSEN = "kernel_walks and gpu and 4097"


def sanitizer() -> Found:
    """Run the tests _CHOSEN under each of _CHECKS. `is_right` is False if the tool finds an
    error or a test fails. Raises FileNotFoundError if the tool is not installed."""
    found = {check: _status(check) for check in _CHECKS}
    wrong = [f"{check} (status {status})" for check, status in found.items() if status]
    words = f"not passed: {', '.join(wrong)}" if wrong else f"no errors: {', '.join(_CHECKS)}"
    return Found(words, found, not wrong)


def _status(check: str) -> int:
    tool = shutil.which(TOOL) or TOOL
    watched = [tool, "--tool", check, "--error-exitcode", str(_FOUND)]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", _CHOSEN, str(ROOT / _TEST)]
    config = ["-c", str(ROOT / ".pytest.ini"), "--rootdir", str(ROOT)]
    return subprocess.run([*watched, sys.executable, *tests, *config], check=False).returncode
