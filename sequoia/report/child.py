"""Runs a Python module as a stage of the report: `python -P child.py MODULE ARGUMENTS`. When the
parent process ends, standard input closes. This process then kills itself and, if the system has
process groups, the processes that it started.

The script itself imports nothing from sequoia, so that it starts at once.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Written to oom_score_adj, where 1000 is the maximum. If memory runs out, Linux then kills this
# process before others.
_KILLED_FIRST = "500"


def end_with_parent(pipe: int) -> None:
    """Wait until the other end of `pipe` is closed, then kill this process and, if the system has
    process groups, its children."""
    with suppress(OSError):
        while os.read(pipe, 1024):
            pass
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    pipe = os.dup(0)  # a copy, since the module may replace standard input, as pytest does
    threading.Thread(target=end_with_parent, args=(pipe,), daemon=True).start()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_KILLED_FIRST, encoding="ascii")
    sys.path.insert(0, str(ROOT))
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
