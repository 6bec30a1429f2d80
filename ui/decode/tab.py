"""The live view: handlers behind the form and the stage. Every handler is safe for any
caller and any value."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from sequoia import Run, SequoiaError
from ui.decode import component, messages, recordings
from ui.decode.follow_run import LiveRun
from ui.decode.form import ANEW, LOADING, RESUME, RUN, Controls, controls
from ui.decode.recordings import RunStore
from ui.decode.request import DecodeRequest, settings_of
from ui.serving.fair_queue import Cancelled
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Busy, Limits, Sessions
from ui.shared import markup
from ui.shared.call_modules import call
from ui.shared.menus import on_choice

Updates = dict[Any, Any]
_log = logging.getLogger(__name__)


class LiveView:
    """The view's components and what happens when they are used. One object serves all visitors."""

    def __init__(self, model_host: ModelHost, limits: Limits, header: gr.HTML) -> None:
        self._model_host = model_host
        self._limits = limits
        self._header = header
        self.sessions: Sessions[LiveRun] = Sessions(limits)
        # recordings, and runs that other views have measured
        self.run_store: RunStore[Any] = RunStore(limits.runs, limits.weight)
        self._welcome = recordings.welcome()
        # of all forms: whether prompts are chat messages, shown where the models can
        self.chats: list[gr.Checkbox] = []
        model_host.before_unload.append(self.sessions.release_all)

    def build(self) -> None:
        """Lay the view out in the present container."""
        with gr.Row(elem_id="pg-page", elem_classes="pg-page", equal_height=False):
            with gr.Column(elem_id="pg-side", elem_classes="pg-side", scale=0, min_width=276):
                self.form: Controls = controls(self._limits)
                self.chats.append(self.form.chat)
            with gr.Column(elem_id="pg-main", elem_classes="pg-main", min_width=480):
                self.stage = component.stage(self.get_steps)

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers. No endpoint is offered to programs, and all
        model work has one id."""
        form = self.form
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        engine = {
            **quiet,
            "concurrency_id": "engine",
            "concurrency_limit": self._limits.waiting,
            "trigger_mode": "once",
        }
        run = [form.run.click, form.prompt.submit]
        step = [form.step.click]
        gr.on(
            [*run, *step],
            form.going,
            None,
            form.buttons,
            queue=False,
            js=call("decode/form_changes", "web.began()"),
            **quiet,
        )
        for start, made in (
            (run, self.run),
            (step, self.step),
        ):  # every output costs milliseconds a message: they have one
            over = gr.on(start, made, form.form, self.stage, **engine).then(
                self.rested, None, form.buttons, queue=False, **quiet
            )
            # changed while the run was on
            over.then(None, form.run, form.run, js=anew("web.isChanged()"), **quiet)
        form.stop.click(self.stop, form.stop, [self.stage, *form.course], queue=False, **quiet)
        gr.on(
            [part.change for part in form.form],
            None,
            form.run,
            form.run,
            js=anew("web.changed()"),
            **quiet,
        )
        on_choice(form.tree, form.shaped, [], form.tree_fields, queue=False, **quiet)
        self.stage.take(
            self.fill,
            None,
            [self.stage, form.prompt, form.chat, *form.tree_fields, *form.settings],
            **quiet,
        )
        form.open.upload(self.open, form.open, [self.stage, form.save, *form.course], **quiet)
        form.example.click(self.example, None, [self.stage, form.save, *form.course], **quiet)
        for comes in (
            blocks.load,
            self.stage.come,
        ):  # the view asks where the page's own event came too early for it
            comes(self.load, None, [self.stage, form.save], **quiet)
        blocks.load(
            self.watch,
            None,
            [self._header, self.stage, form.run, *self.chats],
            concurrency_limit=None,
            **quiet,
        )
        self._header.select(self.renew, None, [*form.course, *self.chats], queue=False, **quiet)
        blocks.unload(self.close)

    # -- runs --------------------------------------------------------------------------------------

    def run(self, data: Mapping[Any, Any], request: gr.Request) -> Iterator[str]:
        """To the end: a new run, or the paused one if nothing was changed since."""
        yield from self._carry_out(data, request, None)

    def step(self, data: Mapping[Any, Any], request: gr.Request) -> Iterator[str]:
        """One step of the paused run, or of a new one if there is none or the form
        was changed since."""
        yield from self._carry_out(data, request, 1)

    def stop(self, label: Any, request: gr.Request) -> Updates:
        """The run ends after its present step. Where the button says that it starts over, the
        paused run is given up: what it says counts, as a run that was just stopped rests a moment
        before the button tells."""
        run = self.sessions.get(visitor(request))
        if label != ANEW or (run and run.busy):
            self.sessions.stop(visitor(request))
            return {self.form.stop: gr.skip()}  # Gradio takes no empty update
        words = (
            "The paused run was given up; its steps so far stay on screen. The next Run or "
            "Step begins a new one."
        )
        return {
            self.stage: messages.notice_message(notice=words),
            **self.form.anew(),
            **self._failed(request),
        }

    def close(self, request: gr.Request) -> None:
        """The page was closed: the engine is free after the present step."""
        self.sessions.close(visitor(request))

    def _carry_out(
        self, data: Mapping[Any, Any], request: gr.Request, steps: int | None
    ) -> Iterator[str]:
        try:
            run = self._chosen(
                DecodeRequest.parse(self.form.values(data), self._limits), visitor(request)
            )
            self.sessions.go(visitor(request), run, steps)
        except SequoiaError as problem:
            yield refused(problem, "Not run")
            return
        try:
            yield from run.messages()
        finally:  # also when the page is closed, which ends this generator at its next yield
            run.halt()
        if run.error:
            warn(run.error, "The run broke off")

    def rested(self, request: gr.Request) -> Updates:
        """The buttons and the file after a run, a step, or a refusal."""
        run = self.sessions.get(visitor(request))
        if run is None:
            return self.form.resting(False)
        if run.busy:
            return self.form.going()
        updates = {**self.form.resting(run.holding), **self._saved(run)}
        if not run.holding:
            run.forget()
        return updates

    def _chosen(self, decode_request: DecodeRequest, who: str) -> LiveRun:
        last = self.sessions.get(who)
        return (
            last
            if last and last.holding and last.request == decode_request
            else LiveRun(decode_request, self._model_host, self._limits, self.run_store)
        )

    def _saved(self, run: LiveRun) -> Updates:
        """The file on offer: that of what is on the stage. A run that never began left the
        one before it there."""
        if run.recording is None:
            return {}
        if not run.recording.weight:
            return {self.form.save: gr.update(interactive=False)}
        self.run_store.put(run.recording)  # its weight is known now
        made = run.recording.run()
        return {self.form.save: download(made.to_json(), recordings.file_name("run", made.meta))}

    # -- recordings --------------------------------------------------------------------------------

    def load(self, request: gr.Request) -> Updates:
        """What the page opens on: the run named in its address while it is kept, else
        the recorded one."""
        if recording := self.run_store.get(request.query_params.get("run")):
            run = recording.run()
            if run.steps:
                return self._shown(recordings.shown_as(run, recording.name))
        return self._opening()

    def example(self, request: gr.Request) -> Updates:
        """The recorded run that comes with the program; a run that was paused is given up for
        it."""
        return {**self._opening(), **self._failed(request)}

    def _opening(self) -> Updates:
        found = self._welcome
        if found is None:
            return {
                self.stage: messages.notice_message(notice="No recorded run is at hand; press Run.")
            }
        return self._shown(found)

    def _failed(self, request: gr.Request) -> Updates:
        """Another run is shown than the visitor's paused one: it cannot go on, and the next
        one is a new one."""
        run = self.sessions.get(visitor(request))
        if run is None or run.busy or not run.holding:
            return {}
        run.release()
        run.forget()
        return self.form.anew()

    def open(self, path: Any, request: gr.Request) -> Updates:
        """Play the run in an uploaded file, and give up a paused one; with any other file
        everything on screen stays."""
        try:
            found = recordings.opened(path, self._limits.upload)
        except SequoiaError as problem:
            warn(str(problem), "Not opened")
            return {self.stage: messages.notice_message(error=f"Not opened: {problem}")}
        return self._put(found, request)

    def fill(self, event: gr.EventData) -> Updates:
        """Put the settings of the run on screen, which the browser tells, into the form."""
        reported = event._data if isinstance(event._data, Mapping) else {}
        try:
            found = settings_of(reported, self._limits)
        except SequoiaError as problem:
            return {self.stage: refused(problem, "Not taken over")}
        kind = found.pop("tree", None)
        numbers = found.pop("numbers", None)
        values = {getattr(self.form, name): gr.update(value=value) for name, value in found.items()}
        return {**values, **(self.form.put(kind, numbers) if kind else {})}

    def show(self, run: Run, request: gr.Request) -> Updates:
        """Play `run`, which another view holds. One that was measured here stays a measured one,
        and is kept for reload. Raises Busy while a run goes on here, and BadTrace."""
        going = self.sessions.get(visitor(request))
        if going and going.busy:
            raise Busy("a run is going on in the live view; stop it first")
        if (
            not run.steps or run.meta.get("label") != "measured"
        ):  # what comes from a file never says so, see race_messages.Opened
            return self._put(recordings.played(run), request)
        kept = recordings.Finished(run)
        self.run_store.put(kept)
        return self._put(recordings.shown_as(run, kept.name), request)

    def _put(self, found: recordings.Shown, request: gr.Request) -> Updates:
        return {**self._shown(found), **self._failed(request)}

    def _shown(self, found: recordings.Shown) -> Updates:
        return {self.stage: found.message, self.form.save: download(found.file, found.called)}

    def get_steps(self, asked: Any) -> str:
        """Steps a browser has missed, from [run, first] on, with all trees and pieces."""
        name, first = asked if isinstance(asked, list) and len(asked) == 2 else (None, None)
        recording = self.run_store.get(name)
        if recording is None or type(first) is not int or first < 0:
            return messages.notice_message(
                error="The run is no longer kept; its missing steps cannot be had."
            )
        return messages.since(recording.run(), recording.name, first)

    # -- the models --------------------------------------------------------------------------------

    async def watch(self) -> AsyncIterator[Updates]:
        """Where loading stands, until there is nothing more to wait for."""
        reported = None
        settled = False
        while not settled:
            status = self._model_host.status  # read once: it may be another one a moment later
            settled = status.settled
            if status != reported:
                reported = status
                yield {
                    self._header: self._model_host.status_json(),
                    self.form.run: gr.update(value=RUN if settled else LOADING),
                    **(self._chatting() if settled else {}),
                }
            if not settled:
                await asyncio.sleep(0.2)
        if reported and reported.stage == "failed":
            yield {
                self.stage: messages.notice_message(
                    error=(
                        f"The models could not be loaded: {reported.words}. "
                        "Recorded runs still play."
                    )
                )
            }

    def renew(self, request: gr.Request) -> Updates:
        """Other models are there: a paused run cannot go on, and whether prompts can be chat
        messages is another matter."""
        run = self.sessions.get(visitor(request))
        return {**({} if run and run.busy else self.form.anew()), **self._chatting()}

    def _chatting(self) -> Updates:
        """The boxes "as a chat message", ticked where the models have a template and away
        where they have none."""
        try:
            able = self._model_host.pair(lambda: True).template is not None
        except (SequoiaError, Cancelled):
            able = False
        return {box: gr.update(visible=able, value=True) for box in self.chats}


def anew(when: str) -> str:
    """JavaScript for the label of the Run button: not Resume `when`, as the browser finds, the form
    no longer describes the paused run."""
    label = f"({when} && label === {markup.literal(RESUME)} ? {markup.literal(RUN)} : label)"
    return call("decode/form_changes", label, "label")


def visitor(request: gr.Request) -> str:
    """The key of the visitor's session."""
    return str(request.session_hash)[:200]


def refused(problem: SequoiaError, title: str) -> str:
    """The message for the stage, where all else stays, and a pop-up message."""
    warn(str(problem), title)
    return messages.notice_message(error=str(problem))


def warn(text: str, title: str) -> None:
    """A pop-up message. Gradio shows its own heading above it."""
    gr.Warning(markup.toast(f"{title}: {text}"), duration=7)


def download(text: str, name: str) -> dict[str, Any]:
    """The update of a download button for a file of this text, kept where Gradio clears up."""
    # Gradio reads it later: nobody else's may lie there
    path = Path(get_upload_folder()) / "runs" / recordings.new_name() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return gr.update(value=str(path), interactive=True)
