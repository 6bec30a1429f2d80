"""Other models being loaded, in a thread of its own: fetched while others decode, then loaded in turn. Knows no page.

Whatever goes wrong, and if it is stopped, the pair that was there stays.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

from sequoia import Pair, SequoiaError, load_pair
from sequoia.checks import Passed
from sequoia.download import Progress
from sequoia.errors import Stopped
from sequoia.gather import Told
from sequoia.hub import fetch_pair

from .engine_room import EngineRoom
from .line import Left
from .wanted import Wanted
from .worker import is_out_of_memory

KEPT = "the models that were there stay"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Report:
    """How far it is: words for what is being done now, a download's progress, the checks passed so far. `over`: it has ended;
    `error`: why, where it failed; `done`: the new models are in use."""

    words: str
    progress: Progress | None = None
    checks: tuple[Passed, ...] = ()
    over: bool = False
    error: str | None = None
    done: bool = False


class Loading:
    """Loads once. It holds nothing afterwards, so that a session keeps it like a run that has ended."""

    holding = False

    def __init__(self, room: EngineRoom, wanted: Wanted, online: bool | None = None) -> None:
        self._room, self._wanted, self._online = room, wanted, online
        self._halt, self._mail, self._busy = threading.Event(), SimpleQueue[Report](), False
        self._last = Report(f"looking for {wanted.title}")

    @property
    def busy(self) -> bool:
        return self._busy

    def start(self, _steps: int | None = None) -> None:
        """Begin in the background."""
        self._busy = True
        threading.Thread(target=self._work, name="loading", daemon=True).start()

    def halt(self) -> None:
        """Stop: a download within a moment, reading weights after the model being read."""
        self._halt.set()

    def release(self) -> None:
        self.halt()

    def reports(self) -> Iterator[Report]:
        """Reports until the end, each the newest at its time."""
        while True:
            report = self._mail.get()
            with suppress(Empty):
                while not report.over:
                    report = self._mail.get_nowait()
            yield report
            if report.over:
                return

    # -- in the thread ---------------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        ended: dict[str, Any] = {"error": f"an unexpected error; the server's log has the details; {KEPT}"}
        try:
            self._tell(self._last.words)
            fetch_pair(**self._wanted.options, online=self._online, tell=self._tell, stop=self._halt.is_set)
            self._last = replace(self._last, progress=None, checks=())  # all of them are made again as it is loaded
            self._tell("waiting for what is running to end")
            self._room.change(self._load, self._halt.is_set, self._tell_place)
            ended = {"done": True}
        except (Left, Stopped) as problem:
            ended = {"words": str(problem) or f"stopped; {KEPT}"}
        except SequoiaError as problem:
            ended = {"error": f"{problem} ({KEPT})" if self._room.status.stage == "ready" else str(problem)}
        except Exception as problem:
            if is_out_of_memory(problem):
                ended = {"error": f"out of memory; {KEPT}"}
            else:
                _log.exception("loading other models failed")
        finally:
            self._busy = False
            self._mail.put(replace(self._last, **{"words": "", "progress": None, "over": True, **ended}))

    def _load(self) -> Pair:
        """Also called when this pair has to be loaded again, long after this task; then nobody can stop it."""
        return load_pair(**self._wanted.options, online=False, tell=self._tell, stop=lambda: self._busy and self._halt.is_set())

    def _tell(self, news: Told) -> None:
        if isinstance(news, Passed):
            self._last = replace(self._last, checks=(*self._last.checks, news))
        elif isinstance(news, Progress):
            self._last = replace(self._last, words="downloading", progress=news)
        else:
            self._last = replace(self._last, words=news, progress=None)
        if self._busy:
            self._mail.put(self._last)

    def _tell_place(self, before: int) -> None:
        self._tell(f"{before} {'run' if before == 1 else 'runs'} before; loading begins by itself")
