"""The Hardware view: the handlers of its form and of its board. The board is the component that the
browser draws. Anyone can call the handlers with any value, so they check what they get."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import gradio as gr

from sequoia import SequoiaError, machine
from sequoia.errors import BadProfile, BadTree
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.validate_input import shown, whole
from ui.hardware import view
from ui.hardware.form import (
    NONE,
    FormValues,
    HardwareForm,
    known,
    named,
    rate_choices,
)
from ui.hardware.own_profile import BadField, own_profile
from ui.hardware.profile_job import Measurement, ProfileJob
from ui.hardware.view import notice_message
from ui.run.messages import OpenedRun
from ui.run.report import drafted_lane
from ui.run.tab import RunTab
from ui.serving.job import Report
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost, made_with
from ui.serving.session_view import ASKED, SessionView, sent_with
from ui.shared import saved_profiles
from ui.shared.acceptance_rates import Rates, rates_of
from ui.shared.events import (
    QUIET,
    UNQUEUED,
    FormData,
    Updates,
    model_work,
    note_form,
    visitor,
)
from ui.shared.layout import drawn, on_choice, side_and_main
from ui.shared.saved_profiles import SAVED, Entry
from ui.shared.serve_modules import call
from ui.words.hardware import change_words

HERE = "here"
DEFAULT_RATES = "T0.6"
_NUMBER = re.compile(r"\s*[0-9]{1,8}\s*")


class HardwareTab(SessionView[ProfileJob]):
    """The view's components and their handlers."""

    def __init__(self, model_host: ModelHost, limits: Limits, runs: RunTab) -> None:
        super().__init__(model_host, limits)
        self._runs = runs

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("hw", "Machine and settings")
        with side:
            self.form = HardwareForm(self._limits.measures, self._runs.profiles)
        with main:
            # when it becomes visible, it triggers `select`, or `link` if a link was opened
            self.board = drawn(
                "hw",
                "hardware/hardware_view",
                ["select", "link", "ask"],
                '<div class="sq-stage hw-stage"></div>',
            )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form = self.form.inputs
        menus = [self.board, *self.form.menus]
        if self._limits.measures:
            self._wire_measuring(form, menus)
        self.board.select(self.come, form, menus, concurrency_limit=None, **QUIET)
        asks = [
            self.form.profile.input,
            self.form.against.input,
            self.form.rates.input,
            self.form.nodes.submit,
            self.form.nodes.blur,
        ]
        gr.on(
            asks,
            self.look,
            form,
            [self.board, self.form.against],
            trigger_mode="always_last",
            **QUIET,
        )
        self.board.link(
            self.use_link,
            {self.form.store},
            [*menus, self.form.nodes],
            concurrency_limit=None,
            **QUIET,
        )
        note_form(blocks, "hardware", self.form.linked)
        self.form.save.click(
            self.save_profile, {self.form.name, *form}, [*menus, self.form.store], **QUIET
        )
        self.form.remove.click(self.remove_profile, form, [*menus, self.form.store], **QUIET)
        self.form.open.upload(
            self.import_profile, {self.form.open, *form}, [*menus, self.form.store], **QUIET
        )
        self._wire_own(form, menus)

    def _wire_measuring(self, form: set[Any], menus: list[Any]) -> None:
        buttons = self.form.buttons
        work = model_work(self._limits.waiting)
        self.form.measure_it.click(self.measure, form, [*menus, *buttons], **work)
        self.form.stop_it.click(self.stop, None, None, **UNQUEUED)
        self.board.ask(self.job_state, None, [self.board, *buttons], **ASKED)

    def _wire_own(self, form: set[Any], menus: list[Any]) -> None:
        own = self.form.own
        on_choice(own.start, own.fill, [], own.parts, **UNQUEUED)
        made = own.make.click(
            self.make, {*own.parts, *form}, [*menus, self.form.store, *own.parts], **QUIET
        )
        made.then(
            None,
            None,
            None,
            js=call("shared/form_fields", "web.focusWrong()"),
            api_visibility="private",
        )

    # -- showing -----------------------------------------------------------------------------------

    async def come(self, data: FormData, request: gr.Request) -> AsyncIterator[Updates]:
        """Yields what the view shows. If models are being loaded, yields it again once loading has
        ended, now with this machine's profile (if there is one) and the default acceptance."""
        asked = self.form.values(data)
        while not self._model_host.settled:
            yield self._shown(asked, request)
            await self._model_host.until_settled()
            asked = replace(asked, profile=HERE, rates=None)
        yield self._shown(asked, request)

    def look(self, data: FormData, request: gr.Request) -> Updates:
        """Updates after a change in the form."""
        updates = self._shown(self.form.values(data), request)
        return {part: updates[part] for part in (self.board, self.form.against) if part in updates}

    async def use_link(
        self, data: FormData, event: gr.EventData, request: gr.Request
    ) -> AsyncIterator[Updates]:
        """Put the values of a link, which the browser sent, into the form and show them. If models
        are being loaded, do that again once loading has ended."""
        sent = sent_with(event)
        asked = FormValues(
            **{name: sent.get(name) for name in self.form.linked}, store=data[self.form.store]
        )
        while not self._model_host.settled:
            yield self._shown_link(asked, request)
            await self._model_host.until_settled()
        yield self._shown_link(asked, request)

    def _shown_link(self, asked: FormValues, request: gr.Request) -> Updates:
        known = [*self._entries(asked.store), HERE, NONE, None]
        missing = [key for key in (asked.profile, asked.against) if key not in known]
        notice = f"profile: {shown(missing[0])} is not saved in this browser" if missing else None
        return {
            **self._shown(asked, request, notice),
            self.form.nodes: gr.update(value=asked.nodes),
        }

    def _shown(self, asked: FormValues, request: gr.Request, notice: str | None = None) -> Updates:
        """Updates of the board and of the menus. notice: a sentence for the banner. A value that is
        in no menu is replaced by a default. A profile is not compared with itself."""
        entries = self._entries(asked.store)
        vectors = rates_of(self._model_host.pair_now)
        # vectors of the loaded pair, if there are any, come before the paper's
        default = DEFAULT_RATES if DEFAULT_RATES in vectors else next(iter(vectors))
        profile = known(asked.profile, entries, next(iter(entries), None))
        others = {key: entry for key, entry in entries.items() if key != profile}
        chosen = replace(
            asked,
            profile=profile,
            against=known(asked.against, others, NONE),
            rates=known(asked.rates, vectors, default),
        )
        try:
            text = self._message(chosen, entries, vectors, request, notice)
        except SequoiaError as problem:
            text = notice_message(error=str(problem), notice=notice)
        listed = saved_profiles.listed(entries, profile, chosen.against)
        compared = named({key: entry for key, entry in listed.items() if key in others})
        against = [("nothing", NONE), *compared]
        rates = rate_choices(vectors)
        return {
            self.board: text,
            self.form.profile: gr.update(choices=named(listed), value=profile),
            self.form.against: gr.update(choices=against, value=chosen.against),
            self.form.rates: gr.update(choices=rates, value=chosen.rates),
        }

    def _message(
        self,
        chosen: FormValues,
        entries: dict[str, Entry],
        vectors: dict[str, Rates],
        request: gr.Request,
        notice: str | None,
    ) -> str:
        if chosen.profile is None:
            raise BadProfile("there is no profile yet; measure this machine or import a profile")
        nodes = self._nodes(chosen.nodes)
        recording = self._runs.run_store.get(request.query_params.get("run"))
        pair = self._model_host.pair_now
        run = drafted_lane(recording.log(), recording.verdict) if recording else None
        if run and pair and not made_with(run.run.meta, pair):
            run = None  # made with other models than the ones loaded now
        return view.message(
            entries[chosen.profile],
            vectors[chosen.rates],
            nodes,
            entries.get(chosen.against),
            run,
            machine(pair) if pair else None,
            vectors,
            notice,
            self._limits.nodes,
            made_here=not isinstance(recording, OpenedRun),
        )

    def _nodes(self, typed: Any) -> int | None:
        """The value of the field "Max nodes"; None if it is empty."""
        if typed is None or (isinstance(typed, str) and not typed.strip()):
            return None
        nodes = int(typed) if isinstance(typed, str) and _NUMBER.fullmatch(typed) else typed
        return whole(nodes, "Max nodes", 1, self._limits.nodes, BadTree)

    def _entries(self, store: Any) -> dict[str, Entry]:
        """All profiles, by key. If models are loaded, this machine's comes first."""
        pair = self._model_host.pair_now
        here = {}
        if pair:
            bundled = pair.name == BUNDLED_NAME
            here = {HERE: Entry("this machine", machine(pair), bundled=bundled)}
        return {**here, **saved_profiles.all_entries(store)}

    # -- measuring ---------------------------------------------------------------------------------

    async def measure(self, data: FormData, request: gr.Request) -> AsyncIterator[Updates]:
        """Measure this machine and show the new profile. After Stop or a failure, the old profile
        stays."""
        pair = self._model_host.pair_now
        before = pair and pair.measured.profile
        try:
            self._model_host.owner.require(request, "measure")
            task = await self.started(request, lambda: ProfileJob(self._model_host))
        except SequoiaError as problem:
            yield self._refused(problem, "Not measured")
            return
        shown: Updates = {}
        try:
            yield self.form.measuring(True)
            async for report in task.reports():
                yield {self.board: _report_message(report)}
                if isinstance(report.result, Measurement):
                    notice = change_words(before, *report.result)
                    shown = self._shown(
                        replace(self.form.values(data), profile=HERE), request, notice
                    )
        finally:  # also if the page is closed: Gradio then closes this generator
            task.halt()
        yield {**self.form.measuring(False), **shown}

    def buttons_now(self, request: gr.Request) -> Updates:
        job = self.sessions.get(visitor(request))
        return self.form.measuring(job is not None and job.busy)

    def not_running(self, words: str) -> Updates:
        return {self.board: notice_message(error=words)}

    # -- saving ------------------------------------------------------------------------------------

    def save_profile(self, data: FormData, request: gr.Request) -> Updates:
        """Save the chosen profile in the visitor's browser, under the name in the form."""
        asked = self.form.values(data)
        try:
            entries = self._entries(asked.store)
            key = known(asked.profile, entries, None)
            if key is None:
                raise BadProfile(
                    f"profile: {shown(asked.profile)} is not in the menu; choose one there"
                )
            name = saved_profiles.clean_name(data[self.form.name])
            return self._stored(replace(entries[key], name=name), asked, request)
        except SequoiaError as problem:
            return self._refused(problem, "Not saved")

    def import_profile(self, data: FormData, request: gr.Request) -> Updates:
        """Import a profile from a file: save it in the browser and show it."""
        try:
            entry = saved_profiles.load_upload(data[self.form.open])
            return self._stored(entry, self.form.values(data), request)
        except SequoiaError as problem:
            return self._refused(problem, "Not imported")

    def remove_profile(self, data: FormData, request: gr.Request) -> Updates:
        """Remove the chosen profile from the visitor's browser, if it is saved there."""
        asked = self.form.values(data)
        key = asked.profile
        name = key.removeprefix(SAVED) if isinstance(key, str) and key.startswith(SAVED) else None
        if name not in saved_profiles.saved_entries(asked.store):
            return self._refused(
                BadProfile("only profiles that you saved yourself can be removed"), "Not removed"
            )
        left = saved_profiles.remove_entry(asked.store, name)
        return self._kept(replace(asked, profile=HERE, store=left), request)

    def make(self, data: FormData, request: gr.Request) -> Updates:
        """Make a profile from the values in the form, save it in the browser and show it. If a
        value is refused, its field says why."""
        try:
            entry = own_profile(self.form.own.typed(data))
            shown = self._stored(entry, self.form.values(data), request)
        except BadField as problem:
            return self.form.own.refused(problem)
        except SequoiaError as problem:
            return {**self.form.own.refused(None), **self._refused(problem, "Not made")}
        return {**self.form.own.refused(None), **shown}

    def _stored(self, entry: Entry, asked: FormValues, request: gr.Request) -> Updates:
        """Updates that save a profile in the browser and show it."""
        store = saved_profiles.add_entry(asked.store, entry)
        return self._kept(replace(asked, profile=SAVED + entry.name, store=store), request)

    def _kept(self, asked: FormValues, request: gr.Request) -> Updates:
        """Updates that save `asked.store` in the browser and show what `asked` chooses from it."""
        return {**self._shown(asked, request), self.form.store: asked.store}

    def _refused(self, problem: SequoiaError, title: str) -> Updates:
        return {self.board: notice_message(error=f"{title}: {problem}")}


def _report_message(report: Report) -> str:
    share = None if report.over else report.share
    error = report.error and f"Not measured: {report.error}"
    return notice_message(error=error, notice=report.words or None, share=share)
