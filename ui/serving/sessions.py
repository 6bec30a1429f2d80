"""Stores one job per visitor and view. Independent of Gradio.

The key of a session is a string that the browser chooses. Gradio's page makes it random, so that
nobody can guess the key of another visitor. A browser can send any string, so the key must not be
used for anything else, such as a file name.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Generic, TypeVar

from ui.serving.fair_queue import Busy
from ui.serving.job import Job
from ui.serving.limits import Limits

R = TypeVar("R", bound=Job[Any])


class Sessions(Generic[R]):
    """The run of each visitor, in the order in which the runs were started or resumed. All methods
    are thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, R] = OrderedDict()

    @property
    def in_line(self) -> dict[str, R]:
        """The runs that keep their visitors from starting another, in any view."""
        with self._lock:
            return {who: run for who, run in self._runs.items() if run.in_line}

    def get(self, who: str) -> R | None:
        with self._lock:
            return self._runs.get(who)

    def keeps(self, who: str) -> bool:
        """Whether the visitor's run is in progress or paused."""
        run = self.get(who)
        return run is not None and (run.busy or run.holding)

    def has(self, run: object) -> bool:
        """Whether `run` is the run of one of the visitors."""
        with self._lock:
            return any(one is run for one in self._runs.values())

    def go(self, who: str, run: R, steps: int | None = None) -> None:
        """Start or resume `run` as the run of visitor `who`, for `steps` steps, or to its end if
        None. It ends a replaceable run of theirs. Raises Busy."""
        with self._lock:
            last = self._runs.get(who)
            if last and last.busy and not last.is_replaceable:
                raise Busy("one run at a time; stop the current one first")
            is_full = last is None and len(self._runs) >= self._limits.sessions
            idle = self._idle() if is_full else None
            run.start(steps)  # before any other run is released, because this may raise Busy
            if idle is not None:
                self._runs.pop(idle).release()
            if last is not None and last is not run:
                last.halt()
                last.release()
            self._runs[who] = run
            self._runs.move_to_end(who)
            self._free_caches()

    def stop(self, who: str) -> None:
        """Stop the visitor's run, if there is one, after its current step."""
        if run := self.get(who):
            run.halt()

    def release_all(self) -> None:
        """Free the caches of all runs that are paused, or were resumed and wait for their turn to
        use the models. These runs cannot continue afterwards. The caller must have the turn, so
        that no run is using its caches."""
        with self._lock:
            for run in self._runs.values():
                if run.holding:
                    run.release(now=True)

    def end_all(self, words: str) -> None:
        """The program ends: the last event of each run in progress has `words`."""
        with self._lock:
            for run in self._runs.values():
                run.end(words)

    def close(self, who: str) -> None:
        """The visitor has left: stop the run and forget it."""
        with self._lock:
            run = self._runs.pop(who, None)
        if run:
            run.halt()
            run.release()

    def _idle(self) -> str:
        """Of the visitors whose run is not busy, the one whose run was started or resumed longest
        ago. Raises Busy if all runs are busy."""
        idle = next((who for who, run in self._runs.items() if not run.busy), None)
        if idle is None:
            raise Busy(f"all {self._limits.sessions} sessions are in use; try again in a minute")
        return idle

    def _free_caches(self) -> None:
        """Free the caches of all paused runs except the `Limits.held` most recent ones."""
        paused = [run for run in self._runs.values() if run.holding and not run.busy]
        for run in paused[: max(len(paused) - self._limits.held, 0)]:
            run.release()
