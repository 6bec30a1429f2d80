"""The process that downloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequoia.loading.download import WorkerEnded, WorkerProcess

ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"


def test_after_the_process_has_ended_receive_raises(tmp_path: Path) -> None:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    worker = WorkerProcess(script, {})
    worker.send({"number": 1})
    assert worker.receive(30) == {"number": 1}
    worker.end()
    with pytest.raises(WorkerEnded, match="its process ended"):
        worker.receive(30)
