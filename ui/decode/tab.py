"""The Decode view: its form, its stage (the component that shows the run), and their handlers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from sequoia import Run, SequoiaError
from ui.decode import messages, recordings
from ui.decode.again import AgainJob, job_again
from ui.decode.form import EXAMPLES_ABOUT, LOADING, RUN, Controls, began, controls
from ui.decode.form_tree import FormTrees
from ui.decode.pausable_view import PausableView
from ui.decode.recordings import RunStore
from ui.decode.request import DecodeRequest, settings_of, tree_request_of
from ui.decode.run import DecodeJob
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import ASKED, sent_with
from ui.shared.download import download
from ui.shared.events import QUIET, UNQUEUED, Updates, model_work
from ui.shared.layout import drawn, on_choice, side_and_main

# A grey outline of the view, shown until its first message arrives.
SKELETON = (
    '<div class="sq-stage"><div class="sq-skeleton" aria-hidden="true"><i></i><i></i><i></i>'
    "<div><i></i><i></i><i></i><i></i></div></div></div>"
)


class LiveView(PausableView[DecodeJob | AgainJob]):
    """The view's components and their handlers."""

    job_kind = DecodeJob
    request_kind = DecodeRequest
    form: Controls

    def __init__(self, model_host: ModelHost, limits: Limits, header: gr.HTML) -> None:
        # contains Recording (runs of this view) and Finished (opened files, runs of other views)
        super().__init__(model_host, limits, RunStore(limits.runs, limits.stored_nodes))
        self.header = header
        self._first = recordings.first()
        # the hardware profiles saved in the visitor's browser; all views share this component
        self.profiles = gr.BrowserState(
            [], storage_key="sequoia-profiles", secret="sequoia-profiles"
        )
        # the "As a chat message" boxes of all forms, shown if the models have a chat template
        self.chats: list[gr.Checkbox] = []

    @property
    def shown(self) -> list[Any]:
        """The components that change when another finished run is shown."""
        return [self.stage, self.form.save, self.form.example, *self.form.course]

    @property
    def filled(self) -> list[Any]:
        """The components that `fill` changes."""
        form = self.form
        return [self.stage, form.prompt, form.chat, *form.tree_fields, *form.settings]

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("pg")
        with side:
            prompt = self._first.prompt if self._first else ""
            trees = FormTrees(self._model_host, self._limits, tree_request_of)
            self.form = controls(trees, self.profiles, prompt)
            self.chats.append(self.form.chat)
        with main:
            self.stage = drawn(
                "pg",
                "decode/connect",
                ["come", "take", "link", "ask", "follow", "again"],
                SKELETON,
            )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form = self.form
        self.wire_runs(blocks, self.header)
        self.stage.again(None, None, form.buttons, js=began(form), api_visibility="private")
        self.stage.again(self.again, None, self.stage, **model_work(self._limits.waiting)).then(
            self.buttons_now, None, form.buttons, **UNQUEUED
        )
        clock = [self.profiles, form.clock]
        form.clock.change(form.timed_on, clock, form.tree, **UNQUEUED)
        on_choice(form.tree, form.shaped, [], form.tree_fields, **UNQUEUED)
        self.stage.take(
            self.fill,
            self.profiles,
            self.filled,
            **QUIET,
        )
        self.stage.link(
            self.use_link, self.profiles, [self.stage, *form.form, *form.tree_fields], **QUIET
        )
        form.open.upload(self.open, form.open, self.shown, **QUIET)
        on_choice(form.example, self.example, [], self.shown, **QUIET)
        # when the view is first opened, so that other views do without its first run
        self.stage.come(self.load, None, [self.stage, form.save, form.example], **ASKED)
        blocks.load(
            self.watch,
            None,
            [self.header, self.stage, form.run, *self.chats],
            concurrency_limit=None,
            **QUIET,
        )
        self.header.select(self.chatting, None, self.chats, **UNQUEUED)

    # -- runs --------------------------------------------------------------------------------------

    async def again(self, event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        """Run the run that the browser names a few more times, for a narrower interval."""
        recording = self.run_store.get(sent_with(event).get("run"))
        try:
            job = await self.started(
                request, lambda: job_again(recording, self._model_host, self._limits)
            )
        except SequoiaError as problem:
            yield messages.notice_message(error=f"Not run again: {problem}")
            return
        try:
            async for message in job.messages():
                yield message
        finally:
            job.halt()

    def _file(self, recording: Any) -> dict[str, Any]:
        run = recording.run()
        return download(run.to_json(), recordings.file_name("run", run.meta))

    # -- recordings --------------------------------------------------------------------------------

    def load(self, request: gr.Request) -> Updates:
        """Show the run that the view opens with: the one named in the page's address if it is
        stored and has steps, otherwise a recorded example."""
        if recording := self.run_store.get(request.query_params.get("run")):
            run = recording.run()
            if run.steps:
                found = recordings.shown_as(run, recording.name, stored=True)
                return {**self._shown(found), **self._no_example()}
        return self._opening()

    def example(self, name: Any, request: gr.Request) -> Updates:
        """Show the recorded run `name` and its description below the menu. A paused run is
        discarded."""
        try:
            found = recordings.example(name)
        except SequoiaError as problem:
            return {self.stage: messages.notice_message(error=f"Not opened: {problem}")}
        abouts = {one.name: one.about for one in recordings.examples()}
        menu = {self.form.example: gr.update(info=abouts.get(name))}
        return {**self._shown(found), **self._discarded(request), **menu}

    def _no_example(self) -> Updates:
        """The update of the example menu for a run on screen that is not an example."""
        return {self.form.example: gr.update(value=None, info=EXAMPLES_ABOUT)}

    def _opening(self) -> Updates:
        if self._first is None:
            return {self.stage: messages.notice_message(notice="No recorded run found; press Run.")}
        return self._shown(self._first)

    def open(self, path: Any, request: gr.Request) -> Updates:
        """Play the run in an uploaded file, and discard a paused run. If the file cannot be opened,
        only a message appears."""
        try:
            found = recordings.opened(path, self._limits.upload)
        except SequoiaError as problem:
            return {self.stage: messages.notice_message(error=f"Not opened: {problem}")}
        return self._play(found, request)

    def fill(self, event: gr.EventData, profiles: Any = None) -> Updates:
        """Copy the settings of the run on screen to the form. event: has the run's meta, from the
        browser. profiles: those saved in the browser. Both are untrusted."""
        try:
            found = settings_of(sent_with(event), self._limits, profiles)
        except SequoiaError as problem:
            return {self.stage: messages.notice_message(error=f"Not copied: {problem}")}
        kind = found.pop("tree", None)
        numbers = found.pop("numbers", None)
        values = {getattr(self.form, name): gr.update(value=value) for name, value in found.items()}
        return {**values, **(self.form.put(kind, numbers) if kind else {})}

    def use_link(self, event: gr.EventData, profiles: Any = None) -> Updates:
        """Put the values of a link into the form. event: has these values, from the browser.
        profiles: those saved in the browser. Both are untrusted."""
        sent = sent_with(event)
        values = {name: sent.get(name) for name in self.form.names}
        values["profiles"] = profiles
        try:
            DecodeRequest.parse(values, self._limits)
        except SequoiaError as problem:
            words = f"The settings of this link are not used: {problem}"
            return {self.stage: messages.notice_message(error=words)}
        return self.form.use(values)

    def _play(self, run: Run, request: gr.Request) -> Updates:
        """Show a finished run, and store it so that a reloaded page can show it again."""
        kept = recordings.Finished(run)
        self.run_store.put(kept)
        found = recordings.shown_as(run, kept.name, stored=True)
        return {**self._shown(found), **self._no_example(), **self._discarded(request)}

    def _shown(self, found: recordings.Shown) -> Updates:
        return {self.stage: found.message, self.form.save: download(found.file, found.file_name)}

    # -- the models --------------------------------------------------------------------------------

    async def watch(self) -> AsyncIterator[Updates]:
        """Updates that show the state of loading, until loading has succeeded or failed."""
        reported = None
        settled = False
        while not settled:
            status = self._model_host.status  # read once: it may change at any moment
            settled = status.settled
            if status != reported:
                reported = status
                yield {
                    self.header: self._model_host.status_json(),
                    self.form.run: gr.update(value=RUN if settled else LOADING),
                    **(self.chatting() if settled else {}),
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

    def chatting(self) -> Updates:
        """Updates of the "As a chat message" boxes: shown and ticked if the models have a chat
        template, else hidden."""
        pair = self._model_host.pair_now
        able = pair is not None and pair.template is not None
        return {box: gr.update(visible=able, value=True) for box in self.chats}
