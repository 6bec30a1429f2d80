"""The job of each visitor, and base classes of the views in which each visitor runs one job at a
time."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Generic, TypeVar

import gradio as gr
from starlette.concurrency import run_in_threadpool

from ui.serving.fair_queue import Busy
from ui.serving.job import Job
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.run_job import RunJob
from ui.serving.sender import address_of
from ui.shared.events import QUIET, UNQUEUED, Updates, visitor

R = TypeVar("R", bound=Job[Any])


class Sessions(Generic[R]):
    """The run of each visitor, in the order in which the runs were started or resumed. All methods
    are thread-safe.

    The key of a visitor is a string that the browser chooses. Gradio's page makes it random, so
    that nobody can guess that of another visitor. A browser can send any string, so the key must
    not be used for anything else, such as a file name."""

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


# Event options for asking what state a job is in. A page may ask again before it has an answer.
ASKED: dict[str, Any] = {**UNQUEUED, "trigger_mode": "multiple"}
FOLLOWING: dict[str, Any] = {**QUIET, "concurrency_limit": None}
_NEXT_SECONDS = 0.5  # between two checks for a run to follow


class SessionView(ABC, Generic[R]):
    """A view whose handlers start, stop and forget its visitors' jobs. One object serves all
    visitors."""

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        self._model_host = model_host
        self._limits = limits
        self.sessions: Sessions[R] = Sessions(limits)
        model_host.sessions.append(self.sessions)

    def start(self, request: gr.Request, job: R, steps: int | None = None) -> None:
        """Start or resume `job` for the visitor, for `steps` steps, or to its end if None. Raises
        Busy if another job of the visitor, in any view, waits or runs, and for the other reasons
        that `Busy` lists."""
        who = visitor(request)
        job.skips = self._model_host.owner.used_link(request)
        job.address = address_of(request)
        with self._model_host.starting:
            self._require_free(who, job.address)
            self.sessions.go(who, job, steps)

    def _require_free(self, who: str, address: str) -> None:
        """Raises Busy if the visitor has a job in any view that has not ended, or if their network
        address has as many as are allowed. A visitor is one opened page. A person who opens many
        pages has a single address, but so does a whole room of people behind one router."""
        in_line = [sessions.in_line for sessions in self._model_host.sessions]
        last = self.sessions.get(who)
        replaced = last if last is not None and last.is_replaceable else None
        for jobs in in_line:
            if who in jobs and jobs[who] is not replaced:
                raise Busy(
                    f"one run at a time; your {jobs[who].name} has not ended yet: stop it first"
                )
        most = self._limits.per_address
        every = [job for jobs in in_line for job in jobs.values() if job is not replaced]
        same = [job for job in every if job.address == address]
        if most is not None and len(same) >= most:
            raise Busy(
                f"your network address already has {most} run{'s' * (most != 1)} waiting or "
                "running, the most allowed; wait until one has ended"
            )

    async def started(self, request: gr.Request, make: Callable[[], R]) -> R:
        """Make a job with `make`, start it for the visitor, and return it. This happens in a
        thread, because it may take a long time. If the page is closed meanwhile, the job is started
        anyway. Raises what `make` and `start` raise."""
        return await run_in_threadpool(self._make_and_start, request, make)

    def _make_and_start(self, request: gr.Request, make: Callable[[], R]) -> R:
        job = make()
        self.start(request, job)
        return job

    def is_of(self, request: gr.Request, job: R) -> bool:
        """Whether `job` is still the visitor's job in this view, not replaced by another."""
        return self.sessions.get(visitor(request)) is job

    def job_state(self, event: gr.EventData, request: gr.Request) -> Updates:
        """The answer to a page that asks for the state of its job. It sets the buttons. If no job
        waits or runs and no message will tell the page how its job ended, the answer also says why
        the job is not running. Either the request to start it was refused before a handler saw the
        request, or the connection was lost."""
        job = self.sessions.get(visitor(request))
        sent = sent_with(event)
        # Read this before `buttons_now`: a job that ends in between still sends its last message.
        is_explained = sent.get("over") is True or (job is not None and _tells(job, sent))
        updates = self.buttons_now(request)
        if is_explained:
            return updates
        return {**updates, **self.not_running(_what_became_of(job, sent.get("heard") is True))}

    @abstractmethod
    def buttons_now(self, request: gr.Request) -> Updates:
        """Updates that set the buttons for the current state of the visitor's job. Never empty,
        because Gradio takes {} for a value."""

    @abstractmethod
    def not_running(self, words: str) -> Updates:
        """Updates that say why the job on the page is not running."""

    def stop(self, request: gr.Request) -> None:
        """Stop the visitor's job after its current step."""
        self.sessions.stop(visitor(request))


class RunView(SessionView[R]):
    """A view of runs. The run whose turn it is has the engine: only it uses the models. Visitors
    whose own run does not have the engine may follow it, read-only."""

    async def follow(self, request: gr.Request) -> AsyncIterator[str]:
        """The messages of the current run, and of the next ones as long as the visitor's own run
        waits. Ends when the visitor's own run begins, or if the followed run is no longer
        shared."""
        who = visitor(request)
        while True:
            if (job := self._run_to_follow(who)) is not None:
                async with aclosing(job.follow()) as received:
                    async for message in received:
                        if self._is_served(who) or not job.is_shared:
                            return
                        yield message
            own = self.sessions.get(who)
            if own is None or not own.busy or self._is_served(who):
                return
            await asyncio.sleep(_NEXT_SECONDS)

    def _run_to_follow(self, who: str) -> RunJob | None:
        """The run that has the engine, if it is another visitor's, in this view, and shared."""
        job = self._model_host.queue.current
        is_own = job is self.sessions.get(who)
        if is_own or not isinstance(job, RunJob) or not self.sessions.has(job):
            return None
        return job if job.can_be_followed else None

    def _is_served(self, who: str) -> bool:
        """Whether the visitor's own job has the engine."""
        own = self.sessions.get(who)
        return own is not None and own is self._model_host.queue.current


def _tells(job: Job[Any], sent: Mapping[str, Any]) -> bool:
    """Whether a message of `job` is still to come, or is on its way to a page that has sent
    `sent`."""
    return job.busy or (sent.get("heard") is True and job.has_told)


def _what_became_of(job: Job[Any] | None, heard: bool) -> str:
    """A sentence for a page whose job is not running. heard: whether the page has had messages from
    the job."""
    if not heard:
        return "Not started: the server did not accept the request. Try again in a moment."
    name = job.name if job else "run"
    if job and job.holding:
        return f"The connection to the server was lost, so this {name} paused. Press Resume."
    return f"The connection to the server was lost, so this {name} has ended."


def sent_with(event: gr.EventData) -> Mapping[str, Any]:
    """The object that the browser sent with `event`; empty if it sent anything else."""
    return event._data if isinstance(event._data, Mapping) else {}
