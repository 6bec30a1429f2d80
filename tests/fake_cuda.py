"""Stand-ins for the parts of torch.cuda that capture a CUDA graph. The streams log which one waits
for which. The graph captures nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch


class FakeStream:
    """A stream that logs what it waits for."""

    def __init__(self, log: list[str], name: str) -> None:
        self.log = log
        self.name = name

    def wait_stream(self, other: FakeStream) -> None:
        self.log.append(f"{self.name} waits for {other.name}")


class FakeCuda:
    """Puts the stand-ins into torch.cuda. log: what happened, in order. at_end: the error that is
    raised when a capture ends, or None."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.at_end: Exception | None = None
        main = FakeStream(self.log, "main")
        replacements = {
            "Stream": lambda *_: FakeStream(self.log, "side"),
            "current_stream": lambda *_: main,
            "stream": self._stream,
            "graph": self._graph,
            "graph_pool_handle": lambda: 0,
            "CUDAGraph": object,
        }
        for name, stand_in in replacements.items():
            monkeypatch.setattr(torch.cuda, name, stand_in)

    @contextmanager
    def _stream(self, _stream: FakeStream) -> Iterator[None]:
        yield

    @contextmanager
    def _graph(self, *_: Any, **__: Any) -> Iterator[None]:
        self.log.append("capture begins")
        try:
            yield
        finally:
            self.log.append("capture ends")
            if self.at_end is not None:
                raise self.at_end
