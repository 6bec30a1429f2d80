"""A run on its way to one browser: what its thread posts becomes messages, a dozen a second. Knows no components."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from queue import Empty

from sequoia import Recorder, StepTrace

from . import messages
from .engine_room import EngineRoom
from .order import Order
from .recordings import Recording, Shelf
from .runner import Began, Ended, Event, Runner, Said
from .session import Limits

_SECONDS_A_MESSAGE = 0.08


class LiveRun(Runner):
    """A run that is watched and recorded. `messages` is read once for every `start`."""

    def __init__(self, order: Order, room: EngineRoom, limits: Limits, shelf: Shelf) -> None:
        super().__init__(order, room, limits)
        self.recording: Recording | None = None
        self.error: str | None = None
        self._shelf, self._notice = shelf, None

    def messages(self) -> Iterator[str]:
        """Messages until the thread has ended. Steps come in batches, so that no browser is sent more than it can paint."""
        while True:
            events = self._collect()
            yield self._message(events)
            if isinstance(events[-1], Ended):
                return
            time.sleep(_SECONDS_A_MESSAGE)

    def forget(self) -> None:
        """Let go of what was recorded; the shelf alone decides how long it is kept."""
        self.recording = None

    def _collect(self) -> list[Event]:
        """Everything posted so far, at least one event; Ended is always the last."""
        events = [self.mail.get()]
        try:
            while not isinstance(events[-1], Ended):
                events.append(self.mail.get_nowait())
        except Empty:
            pass
        return events

    def _message(self, events: Sequence[Event]) -> str:
        meta = None
        for event in events:
            if isinstance(event, Began):
                meta = event.meta
                self._record(event)
            elif isinstance(event, Said):
                self._notice = event.text
            elif isinstance(event, Ended):
                self._notice, self.error = event.notice, event.error
                meta = event.meta or meta
        if self.recording is None:
            return messages.aside(error=self.error, notice=self._notice)
        if meta is not None:
            self.recording.meta = dict(meta)
        added = [self.recording.add(event) for event in events if isinstance(event, StepTrace)]
        end = events[-1].end if isinstance(events[-1], Ended) else None
        return self._feed.batch(added, meta=meta, end=end, tail=self.recording.pending, error=self.error, notice=self._notice)

    def _record(self, began: Began) -> None:
        self._notice = None
        self.recording = Recording(Recorder(began.pair, began.prompt, began.meta), began.meta)
        self._feed = messages.Feed(self.recording.name)
        self._shelf.put(self.recording)
