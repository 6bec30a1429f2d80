"""The handlers of Run, Step, Stop, Start over and "Make more runs", and of the check of
losslessness."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import gradio as gr
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder
from starlette.concurrency import run_in_threadpool

from sequoia import SequoiaError
from sequoia.errors import BadTrace, Stopped
from ui.run.decode_job import DecodeJob
from ui.run.form import START_OVER, RunForm
from ui.run.messages import StoredRun, notice_message
from ui.run.more_runs import MoreRunsJob
from ui.run.recordings import RunStore, file_name
from ui.run.request import RunRequest
from ui.serving.inbox import SECONDS_PER_BATCH
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.run_job import RunJob
from ui.serving.session_view import RunView, sent_with
from ui.shared import markup
from ui.shared.events import FormData, Updates, visitor


class RunHandlers(RunView[RunJob]):
    """form: the form's components. stage: the component that shows the run. run_store: the runs
    made or opened here."""

    form: RunForm
    stage: gr.HTML

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host, limits)
        self.run_store = RunStore(limits.runs, limits.stored_nodes)
        # so that only one of several simultaneous requests can continue the same run
        self._going_on = threading.Lock()
        model_host.before_unload.append(self.sessions.release_all)

    async def step(self, data: FormData, request: gr.Request) -> AsyncIterator[str]:
        """Make one round. If the form still has the settings of the paused run, it is a round of
        that run; otherwise it is the first one of a new run."""
        async with aclosing(self.run(data, request, 1)) as received:
            async for message in received:
                yield message

    async def run(
        self, data: FormData, request: gr.Request, rounds: int | None = None
    ) -> AsyncGenerator[str, None]:
        """Run to the end, or make `rounds`. If the form still has the settings of the paused run,
        this resumes it; otherwise it starts a new run. Yields messages until the run ends, pauses
        or may be replaced."""
        try:
            run = await run_in_threadpool(self._begin, data, request, rounds)
        except SequoiaError as problem:
            yield notice_message(error=f"Not started: {problem}")
            return
        try:
            async for message in run.messages():
                yield message
                if run.is_replaceable:
                    return
        finally:  # also if the page is closed: Gradio then closes this generator
            if not run.is_replaceable:
                run.halt()

    def _begin(self, data: FormData, request: gr.Request, rounds: int | None) -> DecodeJob:
        """Start the run that the form asks for, and return it. Raises SequoiaError if it is
        refused."""
        asked = RunRequest.parse(self.form.values(data), self._limits)
        last = self.sessions.get(visitor(request))
        if isinstance(last, DecodeJob) and last.holding and last.request == asked:
            run = last
        else:
            run = DecodeJob(asked, self._model_host, self._limits, self.run_store)
        run.is_shared = self._limits.shares or self.form.is_shared(data)
        self.start(request, run, rounds)
        return run

    async def check(self, request: gr.Request) -> AsyncIterator[str]:
        """Send the messages of the check of losslessness, if it is running."""
        run = self.sessions.get(visitor(request))
        if not isinstance(run, DecodeJob) or not run.checking:
            return
        async for message in self._rest_of(run, request):
            yield message

    async def more(self, event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        """Make further runs of the run that the browser names, with other prompts or seeds. They
        end the check of the visitor's last run."""
        kept = self.run_store.get(sent_with(event).get("run"))
        try:
            await self._analysed(request)
            job = await run_in_threadpool(self._more_runs, kept, request)
        except SequoiaError as problem:
            yield notice_message(error=f"Not continued: {problem}")
            return
        async for message in self._rest_of(job, request):
            yield message

    async def _analysed(self, request: gr.Request) -> None:
        """Wait until the visitor's last run is analysed: the button for further runs can be pressed
        before that. Raises Stopped if Stop ended the analysis."""
        run = self.sessions.get(visitor(request))
        if not isinstance(run, DecodeJob) or not run.analysing:
            return
        while run.busy and run.analysing:
            await asyncio.sleep(SECONDS_PER_BATCH)
        if run.halted():
            raise Stopped("Stop was pressed")

    async def _rest_of(self, job: RunJob, request: gr.Request) -> AsyncIterator[str]:
        """The messages of a job, until another replaces it. A message after that would bring the
        old run back to the screen. All are read, so that the end of the job is recorded."""
        try:
            async for message in job.messages():
                if self.is_of(request, job):
                    yield message
        finally:
            job.halt()

    def _more_runs(self, kept: StoredRun | None, request: gr.Request) -> MoreRunsJob:
        """Start further runs of the run `kept`. Raises SequoiaError if they are refused."""
        if kept is None:
            raise BadTrace("this run is no longer stored; run it again")
        with self._going_on:
            job = MoreRunsJob(kept, self._model_host, self._limits)
        try:
            self.start(request, job)
        except SequoiaError:
            kept.planned = None
            raise
        return job

    def stop_or_discard(self, label: Any, request: gr.Request) -> Updates:
        """Discard the paused run if the button's label is "Start over" and no run is in progress;
        else stop the run after its current step. The label matters: just after a pause, the button
        still says "Stop" for a moment, and pressing it then must not discard the run."""
        run = self.sessions.get(visitor(request))
        if label != START_OVER or (run and run.busy):
            self.stop(request)
            return {self.form.stop: gr.skip()}  # Gradio refuses an empty update
        was_kept = bool(self.discarded(request))
        what = "Paused run discarded" if was_kept else "The paused run can no longer be resumed"
        words = f"{what}; its steps stay on screen. Run or Step starts a new one."
        return {self.stage: notice_message(notice=words), **self.form.anew()}

    def discarded(self, request: gr.Request) -> Updates:
        """Discard the visitor's paused run, if there is one. Returns updates of the buttons; empty
        if nothing was discarded."""
        run = self.sessions.get(visitor(request))
        if run is None or run.busy or not run.holding:
            return {}
        run.release()
        run.forget()
        return self.form.anew()

    def buttons_now(self, request: gr.Request) -> Updates:
        """Updates of the buttons and of Save's file for the current state of the visitor's run."""
        run = self.sessions.get(visitor(request))
        if run is None:
            return self.form.resting(False)
        if run.busy:
            return self.form.interruptible() if run.is_replaceable else self.form.going()
        updates = {**self.form.resting(run.holding), **self._saved(run)}
        if not run.holding:
            run.forget()
        return updates

    def _saved(self, run: RunJob) -> Updates:
        """The update of the Save button. It offers the file of `run`, or is disabled if `run` has
        no steps. No update if `run` has no recording: either the run never began, or the button was
        updated already."""
        recording = run.recording  # read once: a second call of `buttons_now` may drop it meanwhile
        if recording is None:
            return {}
        if not recording.node_count:
            return {self.form.save: gr.update(interactive=False)}
        self.run_store.put(recording)  # again: its final size is known only now
        return {self.form.save: file_of(recording)}

    def not_running(self, words: str) -> Updates:
        return {self.stage: notice_message(error=words)}


def file_of(run: StoredRun) -> dict[str, Any]:
    """The update of the Save button that makes it save `run`. If the run cannot be saved, the
    update disables the button, and a warning gives the reason."""
    try:
        return download(run.log().to_json(), file_name(run.meta))
    except SequoiaError as problem:
        gr.Warning(markup.toast(f"The run cannot be saved: {problem}"), duration=7)
        return gr.update(interactive=False)


def download(text: str, name: str) -> dict[str, Any]:
    """Write `text` to a temporary file called `name`, where Gradio would copy it otherwise, and
    return the update that makes a button download it. If writing fails, for instance because the
    disk is full, the update disables the button instead, and a warning gives the reason."""
    try:
        path = save_bytes_to_cache(text.encode(), name, get_upload_folder())
    except OSError as problem:
        words = f"{name} cannot be saved: {problem.strerror}. Everything else still works."
        gr.Warning(markup.toast(words), duration=7)
        return gr.update(interactive=False)
    return gr.update(value=path, interactive=True)
