"""What the views of runs and of races have in common: Run, Step, Stop, Resume and Start over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, ClassVar, TypeVar

import gradio as gr
from starlette.concurrency import run_in_threadpool

from sequoia import SequoiaError
from ui.decode.form import START_OVER, RunControls, anew, began
from ui.decode.messages import notice_message
from ui.decode.recordings import RunStore
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.pausable_job import PausableJob
from ui.serving.run_job import RunJob
from ui.serving.session_view import ASKED, FOLLOWING, RunView
from ui.shared.events import QUIET, UNQUEUED, FormData, Updates, model_work, note_form, visitor

R = TypeVar("R", bound=RunJob)


class PausableView(RunView[R]):
    """A view whose runs can be made step by step, paused and continued.

    job_kind: makes a run from a request. request_kind: makes a request from the form's values.
    form: its controls. stage: the component that shows the run. run_store: the recordings.
    """

    job_kind: ClassVar[type[PausableJob[Any]]]
    request_kind: ClassVar[Any]
    form: RunControls
    stage: gr.HTML

    def __init__(self, model_host: ModelHost, limits: Limits, run_store: RunStore[Any]) -> None:
        super().__init__(model_host, limits)
        self.run_store = run_store
        model_host.before_unload.append(self.sessions.release_all)

    def wire_runs(self, blocks: gr.Blocks, header: gr.HTML) -> list[Any]:
        """Connect the controls to their handlers. header: the page's, which tells when other models
        are loaded. Returns the events after Run and after Step, when the buttons are set."""
        form, stage, tab = self.form, self.stage, self.form.tab
        run = [form.run.click, form.prompt.submit]
        step = [form.step.click]
        gr.on([*run, *step], None, None, form.buttons, js=began(form), api_visibility="private")
        stage.follow(self.follow, None, stage, **FOLLOWING)
        stage.ask(self.job_state, None, [stage, *form.buttons], **ASKED)
        ends = []
        for start, handler in ((run, self.run), (step, self.step)):
            # the stage is the only output, because each output costs milliseconds per message
            over = gr.on(start, handler, form.form, stage, **model_work(self._limits.waiting)).then(
                self.buttons_now, None, form.buttons, **UNQUEUED
            )
            # if the form was changed during the run, the Run button must not say Resume
            over.then(None, form.run, form.run, js=anew(tab, "isChanged"), **QUIET)
            ends.append(over)
        form.stop.click(self.stop_or_discard, form.stop, [stage, *form.course], **UNQUEUED)
        gr.on(
            [field.change for field in form.fields.values()],
            None,
            form.run,
            form.run,
            js=anew(tab, "changed"),
            **QUIET,
        )
        clock = [form.profiles, form.clock]
        form.profiles.change(
            None,
            [form.run, form.clock, form.profiles],
            form.run,
            js=anew(tab, "profilesChanged", "clock", "profiles"),
            **QUIET,
        )
        gr.on([blocks.load, form.profiles.change], form.offer_clocks, clock, form.clock, **UNQUEUED)
        note_form(blocks, tab, form.noted(form.fields))
        header.select(self.buttons_now, None, form.buttons, **UNQUEUED)
        return ends

    async def run(self, data: FormData, request: gr.Request) -> AsyncIterator[str]:
        """Run to the end. If the form still has the settings of the paused run, this resumes it;
        otherwise it starts a new run."""
        async with aclosing(self._carry_out(data, request, None)) as received:
            async for message in received:
                yield message

    async def step(self, data: FormData, request: gr.Request) -> AsyncIterator[str]:
        """Make one round. If the form still has the settings of the paused run, it is a round of
        that run; otherwise it is the first one of a new run."""
        async with aclosing(self._carry_out(data, request, 1)) as received:
            async for message in received:
                yield message

    async def _carry_out(
        self, data: FormData, request: gr.Request, rounds: int | None
    ) -> AsyncGenerator[str, None]:
        """The messages of a run, until it ends, pauses or may be replaced."""
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

    def _begin(self, data: FormData, request: gr.Request, rounds: int | None) -> Any:
        """Start the run that the form asks for, and return it. Raises SequoiaError if it is
        refused."""
        asked = self.request_kind.parse(self.form.values(data), self._limits)
        last: Any = self.sessions.get(visitor(request))
        goes_on = isinstance(last, self.job_kind) and last.holding and last.request == asked
        new = self.job_kind(asked, self._model_host, self._limits, self.run_store)
        run: Any = last if goes_on else new
        run.is_shared = self._limits.shares or self.form.is_shared(data)
        self.start(request, run, rounds)
        return run

    def stop_or_discard(self, label: Any, request: gr.Request) -> Updates:
        """Discard the paused run if the button's label is "Start over" and no run is in progress;
        else stop the run after its current step. The label matters: just after a pause, the button
        still says "Stop" for a moment, and pressing it then must not discard the run."""
        run = self.sessions.get(visitor(request))
        if label != START_OVER or (run and run.busy):
            self.stop(request)
            return {self.form.stop: gr.skip()}  # Gradio refuses an empty update
        name = self.job_kind.name
        was_kept = bool(self._discarded(request))
        what = (
            f"Paused {name} discarded"
            if was_kept
            else f"The paused {name} can no longer be resumed"
        )
        words = f"{what}; its steps stay on screen. Run or Step starts a new one."
        return {self.stage: notice_message(notice=words), **self.form.anew()}

    def _discarded(self, request: gr.Request) -> Updates:
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

    def _saved(self, run: R) -> Updates:
        """The update of the Save button. It offers the file of `run`, or is disabled if `run` has
        no steps. No update if `run` has no recording: either the run never began, or the button was
        updated already."""
        recording = run.recording  # read once: a second call of `buttons_now` may drop it meanwhile
        if recording is None:
            return {}
        if not recording.node_count:
            return {self.form.save: gr.update(interactive=False)}
        self.run_store.put(recording)  # again: its final size is known only now
        return {self.form.save: self._file(recording)}

    @abstractmethod
    def _file(self, recording: Any) -> dict[str, Any]:
        """The update of the button that saves `recording`."""

    def not_running(self, words: str) -> Updates:
        return {self.stage: notice_message(error=words)}
