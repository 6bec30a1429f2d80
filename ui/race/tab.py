"""The Race view: its components and their handlers. Anyone can call the handlers with any
value, so they check what they get."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import gradio as gr
from starlette.concurrency import run_in_threadpool

from sequoia import SequoiaError, Tree
from sequoia.errors import BadTrace, BadTree, Stopped
from sequoia.validate_input import whole
from ui.decode.form import began
from ui.decode.form_tree import FormTrees
from ui.decode.messages import notice_message
from ui.decode.pausable_view import PausableView
from ui.decode.recordings import file_name
from ui.decode.tab import LiveView
from ui.race import recordings as races
from ui.race.form import RaceControls, details_of, race_controls
from ui.race.messages import StoredRace
from ui.race.presets import preset_named
from ui.race.race_on import RaceOnJob
from ui.race.recordings import StoredRaces
from ui.race.request import RaceRequest, lane_tree
from ui.race.run import RaceJob
from ui.serving.inbox import SECONDS_PER_BATCH
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import ASKED, sent_with
from ui.shared import markup
from ui.shared.download import download
from ui.shared.events import QUIET, UNQUEUED, Updates, model_work, visitor
from ui.shared.layout import drawn, on_choice, side_and_main
from ui.shared.tree_menu import entry_of


class RaceTab(PausableView[RaceJob | RaceOnJob]):
    """The view's components and their handlers."""

    job_kind = RaceJob
    request_kind = RaceRequest
    form: RaceControls

    def __init__(self, model_host: ModelHost, limits: Limits, live: LiveView) -> None:
        self.stored = StoredRaces(limits)
        super().__init__(model_host, limits, self.stored.newest)
        self._live = live
        # so that only one of several simultaneous requests can continue the same race
        self._going_on = threading.Lock()

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("rc")
        trees = FormTrees(self._model_host, self._limits, lane_tree)
        with side:
            self.form = race_controls(self._live.profiles, trees)
            self._live.chats.append(self.form.chat)
        with main:
            self.stage = drawn(
                "rc",
                "race/connect",
                ["apply", "come", "more", "link", "ask", "follow"],
            )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form = self.form
        live = self._live
        work = model_work(self._limits.waiting)
        for over in self.wire_runs(blocks, live.header):
            # a separate event, so that Run can be pressed while the check is running
            checked = over.then(self.check, None, self.stage, **work)
            checked.then(self.buttons_now, None, form.buttons, **UNQUEUED)
        further = began(form, form.interruptible())
        self.stage.more(None, None, form.buttons, js=further, api_visibility="private")
        made = self.stage.more(self.race_on, None, self.stage, **work)
        made.then(self.buttons_now, None, form.buttons, **UNQUEUED)
        for lane in form.lanes:
            on_choice(
                lane.kind,
                self.details,
                [live.form.tree, live.form.branching],
                [*lane.details, form.about],
                **UNQUEUED,
            )
        gr.on(
            form.changes_of_a_preset,
            None,
            None,
            form.about,
            js="() => ''",
            api_visibility="private",
        )
        for button in form.presets:
            button.click(self.start_with, button, form.of_a_preset, **UNQUEUED)
        shown = [self.stage, form.save, *form.course]
        form.open.upload(self.open, form.open, shown, **QUIET)
        form.example.click(self.example, None, shown, **QUIET)
        kinds: list[Any] = [lane.kind for lane in form.lanes]
        details = [part for lane in form.lanes for part in lane.details]
        applied = self.stage.apply(self.apply, None, [self.stage, *kinds, *details], **QUIET)
        # scroll up to the notice that says which lane was changed
        applied.then(None, None, None, js="() => scrollTo(0, 0)", api_visibility="private")
        self.stage.link(self.use_link, live.profiles, [self.stage, *form.fields.values()], **QUIET)
        # when the tab is first opened, so that other pages do without the opening race
        self.stage.come(self.load, None, [self.stage, form.save], **ASKED)

    # -- races -------------------------------------------------------------------------------------

    async def check(self, request: gr.Request) -> AsyncIterator[str]:
        """Send the messages of the check of losslessness, if it is running."""
        race = self.sessions.get(visitor(request))
        if not isinstance(race, RaceJob) or not race.checking:
            return
        async for message in self._rest_of(race, request):
            yield message

    async def race_on(self, event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        """Make further runs of the race that the browser names, with other prompts or seeds. They
        end the check of the visitor's last race."""
        kept = self.run_store.get(sent_with(event).get("race"))
        try:
            await self._analysed(request)
            job = await run_in_threadpool(self._further_runs, kept, request)
        except SequoiaError as problem:
            yield notice_message(error=f"Not continued: {problem}")
            return
        async for message in self._rest_of(job, request):
            yield message

    async def _analysed(self, request: gr.Request) -> None:
        """Wait until the visitor's last race is analysed: the button for further runs can be
        pressed before that. Raises Stopped if Stop ended the analysis."""
        race = self.sessions.get(visitor(request))
        if not isinstance(race, RaceJob) or not race.analysing:
            return
        while race.busy and race.analysing:
            await asyncio.sleep(SECONDS_PER_BATCH)
        if race.halted():
            raise Stopped("Stop was pressed")

    async def _rest_of(self, job: RaceJob | RaceOnJob, request: gr.Request) -> AsyncIterator[str]:
        """The messages of a job, until another replaces it. A message after that would bring the
        old race back to the screen. All are read, so that the end of the job is recorded."""
        try:
            async for message in job.messages():
                if self.is_of(request, job):
                    yield message
        finally:
            job.halt()

    def _further_runs(self, kept: StoredRace | None, request: gr.Request) -> RaceOnJob:
        """Start further runs of the race `kept`. Raises SequoiaError if they are refused."""
        if kept is None:
            raise BadTrace("this race is no longer stored; run it again")
        with self._going_on:
            job = RaceOnJob(kept, self._model_host, self._limits)
        try:
            self.start(request, job)
        except SequoiaError:
            kept.planned = None
            raise
        return job

    def details(
        self, kind: Any, tree: Any, parents: Any
    ) -> tuple[dict[str, Any], dict[str, Any], str]:
        """Updates of a lane's numbers and verifier for the shape `kind`. The text about the preset
        is cleared, since the lanes no longer match it. tree: the shape in the Decode form. parents:
        the text beside it. If `kind` and `tree` are both "lab", a tree given by the parents of its
        nodes, `parents` is copied to the lane."""
        numbers, verifier = details_of(kind)
        return {**numbers, **({"value": parents} if kind == tree == "lab" else {})}, verifier, ""

    def start_with(self, name: Any) -> Updates:
        """Fill the form with the preset whose button is called `name`."""
        preset = preset_named(name)
        return self.form.filled_with(preset) if preset else {self.form.about: gr.skip()}

    def apply(self, event: gr.EventData) -> Updates:
        """Copy a suggested tree to a lane of the form. `event` has {lane, parents}; `lane` is its
        number in the form, from 1."""
        asked = sent_with(event)
        lanes = self.form.lanes
        try:
            number = whole(asked.get("lane"), "lane", 1, len(lanes), BadTree)
            tree = Tree.from_parents(asked.get("parents", ()))
            whole(len(tree), "nodes of the tree", 1, self._limits.nodes, BadTree)
        except SequoiaError as problem:
            return {self.stage: notice_message(error=f"Not applied: {problem}")}
        lane = lanes[number - 1]
        (kind, fields, words) = entry_of(tree)
        numbers, verifier = details_of(kind)
        return {
            lane.kind: kind,
            lane.verifier: verifier,
            lane.numbers: {**numbers, "value": fields},
            self.stage: notice_message(
                notice=f"Lane {number} is now {words}; press Run to race it."
            ),
        }

    def use_link(self, event: gr.EventData, profiles: Any = None) -> Updates:
        """Put the values of a link into the form. `event` has the values. profiles: the hardware
        profiles saved in the browser, untrusted."""
        sent = sent_with(event)
        values = {name: sent.get(name) for name in self.form.fields}
        lanes = [
            tuple(values[f"{name}{number}"] for name in ("kind", "numbers", "verifier"))
            for number in range(1, len(self.form.lanes) + 1)
        ]
        try:
            RaceRequest.parse({**values, "lanes": lanes, "profiles": profiles}, self._limits)
        except SequoiaError as problem:
            words = f"The settings of this link are not used: {problem}"
            return {self.stage: notice_message(error=words)}
        return self.form.use(values)

    # -- recordings --------------------------------------------------------------------------------

    def load(self, request: gr.Request) -> Updates:
        """Show the race named in the page's address if it is still stored and has steps, else the
        recorded example."""
        kept = self.run_store.get(request.query_params.get("race"))
        if kept is None or not kept.node_count:
            return self._opening()
        return self._shown(kept)

    def example(self, request: gr.Request) -> Updates:
        """Show the recorded race that is shipped with the program. A paused race is discarded."""
        return {**self._opening(), **self._discarded(request)}

    def _opening(self) -> Updates:
        if self.stored.welcome is None:
            return {self.stage: notice_message(notice="No recorded race found; press Run.")}
        return self._shown(self.stored.welcome)

    def open(self, path: Any, request: gr.Request) -> Updates:
        """Play the race in an uploaded file, and discard a paused race. If the file cannot be
        opened, only a message appears."""
        try:
            kept = races.opened(path, self._limits.upload)
        except SequoiaError as problem:
            return {self.stage: notice_message(error=f"Not opened: {problem}")}
        self.run_store.put(kept)
        return {**self._shown(kept), **self._discarded(request)}

    def _shown(self, kept: StoredRace) -> Updates:
        return {self.stage: self.stored.message(kept), self.form.save: self._file(kept)}

    def _file(self, recording: StoredRace) -> dict[str, Any]:
        try:
            return download(self.stored.file_text(recording), file_name("race", recording.meta))
        except SequoiaError as problem:
            gr.Warning(markup.toast(f"The race cannot be saved: {problem}"), duration=7)
            return gr.update(interactive=False)
