"""Stages of a report (sequoia/report/stage.py) for tests. Small modules replace their real work."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequoia.report.stage import Stage

MODULES = {
    "works": "import sys, pathlib\npathlib.Path('found.txt').write_text('7')\nprint('seven')\n",
    "counts": (
        "import sys\nwith open(sys.argv[1], 'a') as file:\n    print(sys.argv[2], file=file)\n"
        "print('counted')\n"
    ),
    "counts_slowly": (
        "import sys, time\nwith open(sys.argv[1], 'a') as file:\n"
        "    print(sys.argv[2], file=file)\ntime.sleep(0.3)\n"
        "open('found.txt', 'w').write(sys.argv[2])\n"
    ),
    "fails": "import sys\nprint('before')\nsys.exit('no such thing')\n",
    "crashes": "import os, signal\nprint('so far')\nos.kill(os.getpid(), signal.SIGSEGV)\n",
    "sleeps": "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n",
    "skips": (
        "import json\nwith open('outcome.json', 'w') as file:\n"
        "    json.dump({'status': 'skipped', 'words': 'needs 99 GB'}, file)\n"
    ),
    "writes_nonsense": "open('outcome.json', 'w').write('{')\n",
    "starts_another": (
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    ),
}


def stage(name: str, module: str = "works", *arguments: str, **other: object) -> Stage:
    values = {"value": 10, "seconds": 1.0, "limit": 60.0, **other}
    return Stage(name, f"what {name} finds", module, arguments, **values)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of MODULES that the stages' processes import from."""
    folder = tmp_path / "modules"
    folder.mkdir()
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder
