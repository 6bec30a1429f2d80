"""Scripts in a process of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequoia.this_machine.worker_process import WorkerEnded, WorkerProcess

ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"


def test_after_its_end_a_message_is_ignored_and_the_next_answer_says_so(tmp_path: Path) -> None:
    """`send` does nothing once the process has ended, and `receive` raises WorkerEnded."""
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    worker = WorkerProcess(script, {})
    worker.send({"number": 1})
    assert worker.receive(30) == {"number": 1}
    worker.end()
    worker.send({"number": 2})
    with pytest.raises(WorkerEnded, match="its process ended"):
        worker.receive(30)
