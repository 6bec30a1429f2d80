"""A Hugging Face Space, and `uv run app.py`: what the program is started with there."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import space_probe

ROOT = Path(__file__).parents[1]


def maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_space", ROOT / ".space/make.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def required() -> list[str]:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def is_possible() -> bool:
    """Whether this user may have a network namespace."""
    command = ["unshare", "--net", "--map-root-user", "ip", "link", "set", "lo", "up"]
    tools = shutil.which("unshare") and shutil.which("ip")
    return bool(tools) and subprocess.run(command, capture_output=True).returncode == 0


def test_a_space_answers_its_proxy_with_the_limits_for_strangers(tmp_path: Path) -> None:
    if not is_possible():
        pytest.skip("this user may not have a network namespace")
    maker().make(tmp_path / "space")
    command = ["unshare", "--net", "--map-root-user", sys.executable, space_probe.__file__]
    probe = subprocess.run([*command, str(tmp_path / "space")], capture_output=True, text=True)
    assert probe.returncode == 0, probe.stderr
    found = json.loads(probe.stdout)
    assert found["status"] == 200
    assert "https://huggingface.co" in found["policy"]
    assert f"https://{space_probe.HOST}" in found["page"]  # addresses are those of the Space
    assert "Traceback" not in found["printed"]
    assert 'id="md-' not in found["page"]  # strangers load no models


def test_a_space_gets_the_program_with_torch_for_a_cpu(tmp_path: Path) -> None:
    make = maker()
    assert make.make(tmp_path) < 100e6
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"README.md", "app.py", "assets", "requirements.txt", "sequoia", "ui"}
    lines = (tmp_path / "requirements.txt").read_text().splitlines()
    assert "torch==2.13.0+cpu" in lines
    _, settings, readme = (tmp_path / "README.md").read_text().split("---\n", 2)
    assert f"gradio=={settings.partition('sdk_version: ')[2].split()[0]}" in required()
    assert readme.strip() == (ROOT / "README.md").read_text().strip()
    with pytest.raises(SystemExit, match="is not empty"):
        make.make(tmp_path)


def test_zero_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import app

    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert "ZeroGPU" in app.contradiction(app.parser().parse_args([]))


def test_uv_installs_the_same_packages() -> None:
    comments = [
        line.removeprefix("#").removeprefix(" ")
        for line in (ROOT / "app.py").read_text().splitlines()
        if line.startswith("#")
    ]
    script = comments[comments.index("/// script") + 1 : comments.index("///")]
    assert tomllib.loads("\n".join(script))["dependencies"] == required()
