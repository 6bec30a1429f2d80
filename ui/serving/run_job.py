"""The base class of runs. They are recorded, and other visitors can follow them: they get
the same messages as the run's own page. Independent of the page."""

from __future__ import annotations

import asyncio
import threading
import weakref
from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool

from sequoia import SequoiaError
from sequoia.validate_input import json_text
from ui.serving.fair_queue import Busy, Wait, wait_field
from ui.serving.inbox import SECONDS_PER_BATCH, Inbox, Received
from ui.serving.job import Job
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost


@dataclass(frozen=True)
class Notice:
    """text: a message for the visitor, such as the position in the queue; None clears it. wait: the
    jobs ahead in the queue; None if the visitor is not waiting there."""

    text: str | None
    wait: Wait | None = None


@dataclass(frozen=True)
class Ended:
    """A run has ended or paused.

    end: the reason. "stopped": it was halted. "time": the time limit. "paused": the requested steps
    are done. "broken": an error. "length": every lane has finished.
    """

    end: str
    error: str | None = None
    notice: str | None = None


class PairChanged(SequoiaError):
    """A run cannot go on because its pair is no longer loaded."""


class RunJob(Job[Any]):
    """A run. Its events are Notice, Ended, and those of the subclass.

    Events are recorded as they are read. So `messages` must be read after every `start`. If one
    reader stops early, another may read the rest.
    """

    if_out_of_memory = "Choose fewer tokens or a smaller tree and start again."

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host)
        self._limits = limits
        self.is_shared = limits.shares
        self.recording: Any = None
        self.error: str | None = None
        self._notice: str | None = None
        self._wait: Wait | None = None
        self._can_follow = False
        self._making = threading.Lock()  # held while a message is made and sent to the followers
        # weak references: an inbox is removed when its follower leaves, even while they enter
        self._followers: weakref.WeakSet[Inbox[str]] = weakref.WeakSet()

    def messages(self) -> Received[Any, str]:
        """The messages for the browser, up to the last event."""
        return Received(self._inbox, self._next_message)

    def _next_message(self, events: list[Any]) -> str:
        with self._making:
            for event in events:
                self._take(event)
            message = self._message(events)
            for follower in self._followers:
                follower.put(as_followed(message))
            return message

    async def follow(self) -> AsyncGenerator[str, None]:
        """The messages of the run for another visitor: first one with all steps so far, then each
        new message. No messages if there is no recording."""
        inbox = await run_in_threadpool(self._enter)
        while inbox is not None:
            is_over = not (self.busy or self.is_read)
            for message in inbox.take().events:
                yield message
            if is_over:  # if the run's own page was closed, there is no last message
                return
            await asyncio.sleep(SECONDS_PER_BATCH)

    def _enter(self) -> Inbox[str] | None:
        """The inbox of a new follower."""
        inbox = Inbox[str]()
        with self._making:
            message = self._so_far()
            if message is None:
                return None
            inbox.put(as_followed(message))
            self._followers.add(inbox)
        return inbox

    @property
    def can_be_followed(self) -> bool:
        """Whether the run is in progress and recorded, and the server or visitor shares it."""
        return self.busy and self.is_shared and self.recording is not None

    @abstractmethod
    def _so_far(self) -> str | None:
        """Everything recorded so far, as the first message for a visitor who begins to follow. None
        if there is no recording."""

    def said(self, **fields: Any) -> str:
        """A message with `fields`, the texts of the banners, the jobs ahead, and whether a run can
        be followed meanwhile."""
        can_follow = {"follow": True} if self._can_follow else {}
        banners = {"error": self.error, "notice": self._notice}
        return json_text({**fields, **banners, **wait_field(self._wait), **can_follow})

    def _look_for_a_run_to_follow(self) -> bool:
        """Whether another visitor's job of the same name can be followed now. If so, the next
        message says so."""
        job = self._model_host.queue.current
        is_another = isinstance(job, RunJob) and job is not self and job.name == self.name
        self._can_follow = is_another and job.can_be_followed
        return self._can_follow

    def refused(self, problem: SequoiaError) -> str:
        if not isinstance(problem, Busy):
            return super().refused(problem)
        can_follow = self._look_for_a_run_to_follow()
        meanwhile = f", or follow the current {self.name} meanwhile" if can_follow else ""
        return f"Not started: {problem}{meanwhile}"

    def _take(self, event: Any) -> None:
        """Remember the parts of `event` that the next message depends on."""
        self._wait = None
        if isinstance(event, Notice):
            self._notice = event.text
            self._wait = event.wait
        elif isinstance(event, Ended):
            self._notice = event.notice
            self.error = event.error
        else:
            self._can_follow = False

    @abstractmethod
    def _message(self, events: Sequence[Any]) -> str:
        """A message with the events of one batch."""

    def forget(self) -> None:
        """Drop the recording."""
        self.recording = None

    def notice(self, words: str | None) -> Notice:
        return Notice(words)

    def waiting(self, wait: Wait) -> Notice:
        self._look_for_a_run_to_follow()
        return Notice(wait.words(), wait)

    def stopped(self, words: str) -> Ended:
        return Ended("stopped", notice=words)

    def failed(self, error: str) -> Ended:
        return Ended("broken", error)

    def overdue(self) -> str:
        """The message for a run that reached the time limit."""
        return f"Stopped at the time limit of {self._limits.seconds:g} s."


def as_followed(message: str) -> str:
    """`message` for a follower, marked so that the page shows it as another visitor's run."""
    return f'{message.removesuffix("}")},"followed":true}}'
