"""The Run view: its form, its stage (the component that shows the run), and their handlers. Anyone
can call the handlers with any value, so they check what they get."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import gradio as gr

from sequoia import SequoiaError, Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.errors import BadTrace, BadTree
from sequoia.validate_input import whole
from ui.run import clocks, recordings
from ui.run.form import (
    EXAMPLES_ABOUT,
    FIRST_LANES,
    LOADING,
    PARAMS,
    RUN,
    TAB,
    LaneFields,
    anew,
    began,
)
from ui.run.form_layout import prompt_choices, prompt_instead, run_form
from ui.run.form_tree import FormTrees
from ui.run.messages import StoredRun, notice_message
from ui.run.presets import preset_named
from ui.run.request import NO_LANE, RunRequest, param_problem, settings_of
from ui.run.run_handlers import RunHandlers, file_of
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import ASKED, FOLLOWING, sent_with
from ui.shared.events import QUIET, UNQUEUED, Updates, model_work, note_form
from ui.shared.layout import drawn, on_choice, said_at, side_and_main
from ui.shared.tree_menu import entry_of

# A grey outline of the view, shown until its first message arrives.
SKELETON = (
    '<div class="sq-stage"><div class="sq-skeleton" aria-hidden="true"><i></i><i></i><i></i>'
    "<div><i></i><i></i><i></i><i></i></div></div></div>"
)


class RunTab(RunHandlers):
    """The view's components and their handlers.

    profiles: the hardware profiles saved in the visitor's browser; all views share this component.
    """

    def __init__(self, model_host: ModelHost, limits: Limits, header: gr.HTML) -> None:
        super().__init__(model_host, limits)
        self.header = header
        self._first = cache(_first)  # because most pages open with this run
        self.profiles = gr.BrowserState(
            [], storage_key="sequoia-profiles", secret="sequoia-profiles"
        )

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("pg", "Prompt and settings")
        with side:
            trees = FormTrees(self._model_host, self._limits)
            self.form = run_form(trees, self.profiles, recordings.film(self._film))
        with main:
            self.stage = drawn(
                "pg",
                "run/connect",
                ["come", "take", "apply", "more", "link", "ask", "follow"],
                SKELETON,
            )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form, stage = self.form, self.stage
        self._wire_runs()
        self._wire_form(blocks)
        shown = [stage, form.save, form.example, *form.course]
        form.open.upload(self.open, form.open, shown, **QUIET)
        on_choice(form.example, self.example, [], shown, **QUIET)
        filled = [stage, *form.of_a_request]
        stage.take(self.take, self.profiles, filled, **QUIET)
        stage.link(self.use_link, self.profiles, filled, **QUIET)
        applied = stage.apply(self.apply, None, [stage, *form.lane_parts], **QUIET)
        # scroll up to the notice that says which lane was changed
        applied.then(None, None, None, js="() => scrollTo(0, 0)", api_visibility="private")
        # when the view is first opened, so that other views do without its first run
        stage.come(self.load, None, [stage, form.save, form.example], **ASKED)
        chat = [form.chat, form.example_prompt, form.prompt]
        settled = blocks.load(
            self.watch, None, [self.header, stage, form.run], concurrency_limit=None, **QUIET
        )
        settled.then(self.chatting, form.prompt, chat, **UNQUEUED)
        self.header.select(self.buttons_now, None, form.buttons, **UNQUEUED)
        self.header.select(self.chatting, form.prompt, chat, **UNQUEUED)

    def _wire_runs(self) -> None:
        form, stage = self.form, self.stage
        work = model_work(self._limits.waiting)
        run = [form.run.click, form.prompt.submit]
        step = [form.step.click]
        gr.on([*run, *step], None, None, form.buttons, js=began(form), api_visibility="private")
        stage.follow(self.follow, None, stage, **FOLLOWING)
        stage.ask(self.job_state, None, [stage, *form.buttons], **ASKED)
        for start, handler in ((run, self.run), (step, self.step)):
            # the stage is the only output, because each output costs milliseconds per message
            over = gr.on(start, handler, form.form, stage, **work).then(
                self.buttons_now, None, form.buttons, **UNQUEUED
            )
            # if the form was changed during the run, the Run button must not say Resume
            over.then(None, form.run, form.run, js=anew("isChanged"), **QUIET)
            # a separate event, so that Run can be pressed while the check is running
            checked = over.then(self.check, None, stage, **work)
            checked.then(self.buttons_now, None, form.buttons, **UNQUEUED)
        form.stop.click(self.stop_or_discard, form.stop, [stage, *form.course], **UNQUEUED)
        further = began(form, form.interruptible())
        stage.more(None, None, form.buttons, js=further, api_visibility="private")
        made = stage.more(self.more, None, stage, **work)
        made.then(self.buttons_now, None, form.buttons, **UNQUEUED)

    def _wire_form(self, blocks: gr.Blocks) -> None:
        form = self.form
        gr.on(
            [field.change for field in form.fields.values()],
            None,
            form.run,
            form.run,
            js=anew("changed"),
            **QUIET,
        )
        clock = [form.profiles, form.clock]
        form.profiles.change(
            None,
            [form.run, form.clock, form.profiles],
            form.run,
            js=anew("profilesChanged", "clock", "profiles"),
            **QUIET,
        )
        gr.on([blocks.load, form.profiles.change], form.offer_clocks, clock, form.clock, **UNQUEUED)
        note_form(blocks, TAB, form.noted)
        for name in PARAMS:
            field = getattr(form, name)
            field.change(self.said_of(name, field), field, field, **UNQUEUED)
        kinds = [lane.kind for lane in form.lanes]
        form.add.click(form.added, kinds, form.lane_parts, **UNQUEUED)
        for lane in form.lanes:
            shaped = [lane.group, lane.verifier, lane.numbers, form.add, form.about]
            on_choice(lane.kind, self.shaped(lane), [], shaped, **UNQUEUED)
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

    # -- the form ----------------------------------------------------------------------------------

    def shaped(self, lane: LaneFields) -> Any:
        """The handler of a choice in the lane's menu: updates of the lane's fields. The text about
        a preset is cleared, since the lanes no longer match it."""

        def shaped(kind: Any) -> Updates:
            is_removed = {self.form.add: gr.update(visible=True)} if kind == NO_LANE else {}
            return {**lane.shaped(kind), **is_removed, self.form.about: ""}

        return shaped

    def said_of(self, name: str, field: gr.Number) -> Any:
        """The handler of a new value of a sampling parameter: what is wrong with it is said at its
        field."""

        def said(value: Any) -> Updates:
            words = param_problem(name, value, self._limits)
            return said_at({name: field}, name if words else None, words)

        return said

    def start_with(self, name: Any) -> Updates:
        """Fill the form with the preset whose button is called `name`."""
        preset = preset_named(name)
        return self.form.filled_with(preset) if preset else {self.form.about: gr.skip()}

    def take(self, event: gr.EventData, profiles: Any = None) -> Updates:
        """Copy the settings of the run on screen to the form. event: has the run's name, from the
        browser. profiles: those saved in the browser. Both are untrusted."""
        name = sent_with(event).get("run")
        try:
            kept = self.run_store.get(name) or recordings.example_shown_as(name)
            if kept is None:
                raise BadTrace("this run is no longer stored")
            values = settings_of(kept.log(), self._limits, profiles)
        except SequoiaError as problem:
            return {self.stage: notice_message(error=f"Not copied: {problem}")}
        return self.form.use(values)

    def use_link(self, event: gr.EventData, profiles: Any = None) -> Updates:
        """Put the values of a link into the form. event: has these values, from the browser.
        profiles: those saved in the browser. Both are untrusted."""
        values = {name: sent_with(event).get(name) for name in self.form.fields}
        lanes = [
            (values[f"kind{number}"], values[f"numbers{number}"], values[f"verifier{number}"])
            for number in range(1, len(self.form.lanes) + 1)
        ]
        asked = {**values, "lanes": lanes, "profiles": profiles}
        try:
            RunRequest.parse(asked, self._limits)
        except SequoiaError as problem:
            words = f"The settings of this link are not used: {problem}"
            return {self.stage: notice_message(error=words)}
        return self.form.use(asked)

    def run_tree(
        self, tree: Tree, clock: Any, profiles: Any, temperature: float | None = None
    ) -> Updates:
        """Updates that put `tree` into the form, beside plain decoding, and the temperature unless
        it is None. clock: the key of the clock that times the run; if there is no such clock, this
        machine's own is chosen. profiles: those saved in the browser. Both are untrusted. Raises
        BadTree if the tree is too large."""
        whole(len(tree), "nodes of the tree", 1, self._limits.nodes, BadTree)
        parents = " ".join(map(str, tree.parents))
        lanes = [("lab", parents, DEFAULT_VERIFIER), FIRST_LANES[-1]]
        known = [key for _, key in clocks.clock_choices(profiles)]
        chosen = clock if clock in known else clocks.HERE
        heat = {} if temperature is None else {self.form.temperature: gr.update(value=temperature)}
        return {**self.form.put_lanes(lanes), self.form.clock: gr.update(value=chosen), **heat}

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
        kind, numbers, words = entry_of(tree)
        notice = f"Lane {number} is now {words}; press Run to try it."
        updates = {**lane.shaped(kind), lane.kind: gr.update(value=kind)}
        if numbers:
            updates[lane.numbers] = {**updates[lane.numbers], "value": numbers}
        return {**updates, self.stage: notice_message(notice=notice)}

    @property
    def _film(self) -> str:
        return recordings.film_name(self._model_host.draft)

    # -- recordings --------------------------------------------------------------------------------

    def load(self, request: gr.Request) -> Updates:
        """Show the run that the view opens with: the one named in the page's address if it is
        stored and has steps, otherwise the recorded run of the film."""
        kept = self.run_store.get(request.query_params.get("run"))
        if kept is not None and kept.node_count:
            return {**self._shown(kept), **self._no_example()}
        first, message = self._first(self._film)
        if first is None:
            return {self.stage: notice_message(notice="No recorded run found; press Run.")}
        return {self.stage: message, self.form.save: file_of(first)}

    def example(self, name: Any, request: gr.Request) -> Updates:
        """Show the recorded run `name` and its description below the menu. A paused run is
        discarded."""
        try:
            found = recordings.example(name)
        except SequoiaError as problem:
            return {self.stage: notice_message(error=f"Not opened: {problem}")}
        menu = {self.form.example: gr.update(info=found.meta.get("about", ""))}
        return {**self._shown(found, stored=False), **self.discarded(request), **menu}

    def open(self, path: Any, request: gr.Request) -> Updates:
        """Play the run in an uploaded file, and discard a paused run. If the file cannot be opened,
        only a message appears."""
        try:
            kept = recordings.opened(path, self._limits.upload)
        except SequoiaError as problem:
            return {self.stage: notice_message(error=f"Not opened: {problem}")}
        self.run_store.put(kept)
        return {**self._shown(kept), **self._no_example(), **self.discarded(request)}

    def _shown(self, kept: StoredRun, stored: bool = True) -> Updates:
        return {self.stage: kept.whole(stored), self.form.save: file_of(kept)}

    def _no_example(self) -> Updates:
        """The update of the example menu for a run on screen that is not an example."""
        return {self.form.example: gr.update(value=None, info=EXAMPLES_ABOUT)}

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
                }
            if not settled:
                await asyncio.sleep(0.2)
        if reported and reported.stage == "failed":
            words = f"The models could not be loaded: {reported.words}. Recorded runs still play."
            yield {self.stage: notice_message(error=words)}

    def chatting(self, prompt: Any = None) -> Updates:
        """Updates for models with or without a chat template: the "As a chat message" box is shown
        or hidden, and the example prompts are of their kind. prompt: the one in the form. An
        example for the other kind of models is replaced."""
        pair = self._model_host.pair_now
        able = pair is not None and pair.template is not None
        updates: Updates = {self.form.chat: gr.update(visible=able)}
        if pair is None:
            return updates
        instead = prompt_instead(prompt, able)
        return {
            **updates,
            self.form.prompt: gr.skip() if instead is None else gr.update(value=instead),
            self.form.example_prompt: gr.update(choices=prompt_choices(able)),
        }


def _first(name: str) -> tuple[StoredRun | None, str]:
    """The run called `name`, that of the film, without what only the film says of it, and its
    message. None if there is none."""
    found = recordings.film(name)
    if found is None:
        return None, ""
    found.meta.pop("opening", None)
    return found, found.whole(stored=False)
