"""The table of what a step costs outside the models."""

from __future__ import annotations

import pytest

from sequoia.bench.outside_models import print_outside


def test_each_setting_has_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    print_outside([300])
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()[3:]]
    assert len(rows) == 6
    assert all(float(row[-1]) > 0 for row in rows)
