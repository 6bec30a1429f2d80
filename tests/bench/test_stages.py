"""The stages of `python -m sequoia.bench --stages`: each succeeds once, and one that fails stops no
other."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sequoia.bench.stages import STAGES, run_stages
from sequoia.errors import SequoiaError
from sequoia.shapes import SHAPES

COUNTS = ("-c", "open('runs', 'a').write('x'); print('found')")
FAILS = ("-c", "raise SystemExit(3)")
FINDS = "from importlib.util import find_spec; assert find_spec('sequoia') and find_spec('ui')"


def test_a_stage_that_succeeded_is_not_run_again(tmp_path: Path) -> None:
    run_stages(tmp_path, {"counts": COUNTS})
    run_stages(tmp_path, {"counts": COUNTS})
    assert (tmp_path / "counts" / "runs").read_text() == "x"
    assert (tmp_path / "counts" / "output.txt").read_text() == "found\n"


def test_a_stage_that_failed_is_named_and_run_again(tmp_path: Path) -> None:
    stages = {"fails": FAILS, "counts": COUNTS}
    with pytest.raises(SequoiaError, match="failed: fails;"):
        run_stages(tmp_path, stages)
    assert (tmp_path / "counts" / "runs").exists()
    run_stages(tmp_path, {**stages, "fails": COUNTS})


def test_a_stage_finds_this_program_from_its_own_folder(tmp_path: Path) -> None:
    run_stages(tmp_path, {"imports": ("-c", FINDS)})


def test_every_stage_names_a_module_and_a_shape_that_exist() -> None:
    for name, (_, module, *_) in STAGES.items():
        assert importlib.util.find_spec(module), name
    shapes = {arguments[2] for name, arguments in STAGES.items() if name.startswith("shape-")}
    assert shapes <= SHAPES.keys()
