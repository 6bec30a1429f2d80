"""The check that a command refuses an option before it loads models."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture
def refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., None]:
    """A function that fails if the command of a module loads models, or does not refuse the
    arguments in one line that begins with "error: " and `words`."""

    def check(module: ModuleType, arguments: list[str], words: str) -> None:
        monkeypatch.setattr(module, "load_pair", lambda **_: pytest.fail("models were loaded"))
        assert module.main(arguments) == 2
        printed = capsys.readouterr().err
        assert printed.startswith(f"error: {words}")
        assert printed.count("\n") == 1

    return check
