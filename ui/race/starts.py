"""Starts a race (several ways to decode a prompt, side by side) or further runs of a race. First
waits for the analysis of the visitor's last race, and ends its check or further runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from sequoia.errors import Stopped
from ui.race.race_on import RaceOnJob
from ui.race.recordings import StoredRaces
from ui.race.run import RaceJob
from ui.serving.inbox import SECONDS_PER_BATCH
from ui.serving.sessions import Sessions
from ui.shared.events import Updates

_ANALYSED_WITHIN = 60.0  # seconds
# Seconds. A check of losslessness ends only between two samples, and with a large model one sample
# may take this long.
_REPLACED_WITHIN = 10.0

Started = TypeVar("Started", RaceJob, RaceOnJob)


@dataclass(eq=False)
class _Start:
    """A race or further runs that are about to start. meanwhile: the updates of the buttons until
    the start. cancelled: why nothing starts after all; "" if not cancelled."""

    meanwhile: Updates
    cancelled: str = ""


class Starts:
    """What is about to start, at most one thing for each visitor."""

    def __init__(self, sessions: Sessions[RaceJob | RaceOnJob], stored: StoredRaces) -> None:
        self._sessions = sessions
        self._stored = stored
        self._by_visitor: dict[str, _Start] = {}

    def meanwhile(self, who: str) -> Updates | None:
        """The updates of the buttons while something of visitor `who` is about to start. None if
        nothing is."""
        start = self._by_visitor.get(who)
        return start.meanwhile if start else None

    def cancel(self, who: str, why: str) -> None:
        """Do not start what is about to start for visitor `who`, if anything is."""
        if start := self._by_visitor.pop(who, None):
            start.cancelled = why

    async def start(self, who: str, begin: Callable[[], Started], meanwhile: Updates) -> Started:
        """Wait for the analysis of the visitor's last race, end that race's check or further runs,
        then call `begin` in a thread. meanwhile: the updates of the buttons until `begin` returns.

        Raises Stopped if, during the wait for the last race, this start is cancelled or the visitor
        starts something else. If either happens later, the job from `begin` is stopped and then
        returned. Errors that `begin` raises are passed on.
        """
        self.cancel(who, "something else was started")
        self._by_visitor[who] = start = _Start(meanwhile)
        try:
            await self._await_analysis(who)
            await self._end_replaceable(who)
            if start.cancelled:
                raise Stopped(start.cancelled)
            started = await run_in_threadpool(begin)
            if start.cancelled:  # while `begin` ran
                started.halt()
            return started
        finally:
            if self._by_visitor.get(who) is start:
                self._by_visitor.pop(who, None)

    async def _await_analysis(self, who: str) -> None:
        """Wait until the visitor's last race is analysed. The button for further runs can be
        pressed before that. Waits at most _ANALYSED_WITHIN seconds, and only while a page reads the
        messages of that race."""
        race = self._sessions.get(who)
        if not isinstance(race, RaceJob):
            return
        end = time.monotonic() + _ANALYSED_WITHIN
        while race.analysing and race.is_read and time.monotonic() < end:
            await asyncio.sleep(SECONDS_PER_BATCH)

    async def _end_replaceable(self, who: str) -> None:
        """End the check or the further runs of the visitor's last race, if one of them is running.
        Then wait until that race has made its last message. A message sent after the new race has
        begun would bring the old race back to the screen. Waits at most _REPLACED_WITHIN seconds,
        and only while a page reads the messages of the old race."""
        race = self._sessions.get(who)
        if race is None or not race.is_replaceable:
            return
        race.halt()
        end = time.monotonic() + _REPLACED_WITHIN
        while (race.busy or race.is_replaceable) and race.is_read and time.monotonic() < end:
            await asyncio.sleep(SECONDS_PER_BATCH)
        if race.recording is not None:  # can still be saved if nothing starts after all
            self._stored.newest.put(race.recording)
