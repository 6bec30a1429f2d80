"""Cases of a parametrized test that run only with `pytest -m nightly`."""

from __future__ import annotations

from typing import Any

import pytest


def nightly(*cases: Any) -> list[Any]:
    """The cases, marked as nightly. A tuple is a case with several arguments."""
    return [
        pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.nightly)
        for one in cases
    ]
