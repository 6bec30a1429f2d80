"""A run on its way to one browser: events of its thread become messages, a dozen per second.
Knows no components."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia import Recorder, StepTrace
from ui.decode import messages
from ui.decode.recordings import Recording, RunStore
from ui.decode.request import DecodeRequest
from ui.decode.run import DecodeJob, Event, Started
from ui.serving.job import Ended, Notice
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Limits


class LiveRun(DecodeJob):
    """A run that is watched and recorded."""

    recording: Recording | None

    def __init__(
        self,
        decode_request: DecodeRequest,
        model_host: ModelHost,
        limits: Limits,
        run_store: RunStore[Recording],
    ) -> None:
        super().__init__(decode_request, model_host, limits)
        self._run_store = run_store

    def _message(self, events: Sequence[Event]) -> str:
        meta = None
        for event in events:
            if isinstance(event, Started):
                meta = event.meta
                self._record(event)
            elif isinstance(event, Notice):
                self._notice = event.text
            elif isinstance(event, Ended):
                self._notice = event.notice
                self.error = event.error
                meta = event.meta or meta
        if self.recording is None:
            return messages.notice_message(error=self.error, notice=self._notice)
        if meta is not None:
            self.recording.meta = dict(meta)
        added = [self.recording.add(event) for event in events if isinstance(event, StepTrace)]
        end = events[-1].end if isinstance(events[-1], Ended) else None
        return self._run_messages.batch(
            added,
            meta=meta,
            end=end,
            tail=self.recording.pending,
            error=self.error,
            notice=self._notice,
        )

    def _record(self, started: Started) -> None:
        self._notice = None
        self.recording = Recording(
            Recorder(started.pair, started.prompt, started.meta), started.meta
        )
        self._run_messages = messages.RunMessages(self.recording.name)
        self._run_store.put(self.recording)
