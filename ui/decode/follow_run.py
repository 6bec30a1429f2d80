"""A run on its way to one browser: what its thread posts becomes messages, a dozen a second.
Knows no components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sequoia import Recorder, StepTrace
from ui.decode import messages
from ui.decode.recordings import Recording, Shelf
from ui.decode.request import Order
from ui.decode.run import Began, Event, Runner
from ui.serving.model_host import EngineRoom
from ui.serving.sessions import Limits
from ui.serving.worker import Ended, Said


class LiveRun(Runner):
    """A run that is watched and recorded. `messages` is read once for every `start`."""

    def __init__(
        self, order: Order, room: EngineRoom, limits: Limits, shelf: Shelf[Recording]
    ) -> None:
        super().__init__(order, room, limits)
        self.recording: Recording | None = None
        self.error: str | None = None
        self._shelf = shelf
        self._notice = None

    def messages(self) -> Iterator[str]:
        """Messages until the thread has ended. Steps come in batches, so that no browser is sent
        more than it can paint."""
        for events in self.batches():
            yield self._message(events)

    def forget(self) -> None:
        """Let go of what was recorded; the shelf alone decides how long it is kept."""
        self.recording = None

    def _message(self, events: Sequence[Event]) -> str:
        meta = None
        for event in events:
            if isinstance(event, Began):
                meta = event.meta
                self._record(event)
            elif isinstance(event, Said):
                self._notice = event.text
            elif isinstance(event, Ended):
                self._notice = event.notice
                self.error = event.error
                meta = event.meta or meta
        if self.recording is None:
            return messages.aside(error=self.error, notice=self._notice)
        if meta is not None:
            self.recording.meta = dict(meta)
        added = [self.recording.add(event) for event in events if isinstance(event, StepTrace)]
        end = events[-1].end if isinstance(events[-1], Ended) else None
        return self._feed.batch(
            added,
            meta=meta,
            end=end,
            tail=self.recording.pending,
            error=self.error,
            notice=self._notice,
        )

    def _record(self, began: Began) -> None:
        self._notice = None
        self.recording = Recording(Recorder(began.pair, began.prompt, began.meta), began.meta)
        self._feed = messages.Feed(self.recording.name)
        self._shelf.put(self.recording)
