"""The hardware view: the form beside it, and the handlers behind both. Every handler is safe for
any caller and any value."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from sequoia import SequoiaError, machine
from sequoia.errors import BadProfile, BadTree
from sequoia.validate_input import shown, whole
from ui.decode.tab import LiveView, visitor, warn
from ui.hardware import view
from ui.hardware.profile_job import ProfileJob, Report
from ui.hardware.view import Rates, notice_message
from ui.serving.loaded_pair import pair_now, settled
from ui.serving.model_host import ModelHost, made_with
from ui.serving.sessions import Limits, Sessions
from ui.shared import saved_profiles
from ui.shared.call_modules import connect
from ui.shared.labels import with_labels
from ui.shared.saved_profiles import Entry

HERE = "here"
NONE = "none"
USUAL = "T0.6"
_NUMBER = re.compile(r"\s*[0-9]{1,8}\s*")
Updates = dict[Any, Any]


@dataclass(frozen=True)
class FormValues:
    """What the form holds, none of it believed."""

    profile: Any
    against: Any
    rates: Any
    nodes: Any
    store: Any


class HardwareTab:
    """The view's components and what happens when they are used. One object serves all visitors."""

    def __init__(self, model_host: ModelHost, limits: Limits, live: LiveView) -> None:
        self._model_host = model_host
        self._limits = limits
        self._live = live
        self.sessions: Sessions[ProfileJob] = Sessions(limits)

    def build(self) -> None:
        """Lay the view out in the present container."""
        with gr.Row(elem_id="hw-page", elem_classes="pg-page", equal_height=False):
            with gr.Column(elem_id="hw-side", elem_classes="pg-side", scale=0, min_width=276):
                self._form()
            with gr.Column(elem_id="hw-main", elem_classes="pg-main", min_width=480):
                self.board = _board()

    def _form(self) -> None:
        plain: dict[str, Any] = {"value": None, "filterable": False}
        self.store = gr.BrowserState([], storage_key="sequoia-profiles", secret="sequoia-profiles")
        with gr.Row(elem_classes="pg-go"):
            self.measure_it = gr.Button(
                "Measure this machine",
                variant="primary",
                elem_id="hw-measure",
                scale=3,
                min_width=60,
            )
            self.stop_it = gr.Button(
                "Stop", elem_id="hw-stop", scale=1, min_width=50, interactive=False
            )
        with gr.Group(elem_classes="pg-group"):
            shipped = _named(saved_profiles.shipped())
            self.profile = gr.Dropdown(
                shipped, label="Hardware profile", elem_id="hw-profile", **plain
            )
            self.against = gr.Dropdown(
                [("nothing", NONE), *shipped], label="Compare with", elem_id="hw-against", **plain
            )
        with gr.Group(elem_classes="pg-group"):
            self.rates = gr.Dropdown(
                _rate_choices(view.rates_of(None)), label="Acceptance", elem_id="hw-rates", **plain
            )
            # not a Number: Gradio shows an empty one as 0
            self.nodes = gr.Textbox(
                label="Nodes at most",
                placeholder="as many as were timed, or 128",
                max_lines=1,
                max_length=8,
                elem_id="hw-nodes",
            )
        with gr.Group(elem_classes="pg-group"):
            self.name = gr.Textbox(
                label="Keep this profile as", max_lines=1, elem_id="hw-name", placeholder="a name"
            )
            with gr.Row(elem_classes="pg-files"):
                self.save = gr.Button("Keep", size="sm", min_width=50, elem_id="hw-save")
                self.remove = gr.Button("Remove", size="sm", min_width=50, elem_id="hw-remove")
                self.open = gr.UploadButton(
                    "Import", size="sm", min_width=50, file_types=[".json"], elem_id="hw-open"
                )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers. No endpoint is offered to programs;
        measuring is model work."""
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        engine: dict[str, Any] = {
            **quiet,
            "concurrency_id": "engine",
            "concurrency_limit": self._limits.waiting,
            "trigger_mode": "once",
        }
        form = {self.profile, self.against, self.rates, self.nodes, self.store}
        menus = [self.board, self.profile, self.against, self.rates]
        self.measure_it.click(self.measure, form, [*menus, self.measure_it, self.stop_it], **engine)
        self.stop_it.click(self.stop_measuring, None, None, queue=False, **quiet)
        self.board.select(self.come, form, menus, concurrency_limit=None, **quiet)
        asks = [
            self.profile.input,
            self.against.input,
            self.rates.input,
            self.nodes.submit,
            self.nodes.blur,
        ]
        gr.on(
            asks, self.look, form, [self.board, self.against], trigger_mode="always_last", **quiet
        )
        self.save.click(self.keep, {self.name, *form}, [*menus, self.store], **quiet)
        self.remove.click(self.drop, form, [*menus, self.store], **quiet)
        self.open.upload(self.take, {self.open, *form}, [*menus, self.store], **quiet)
        blocks.unload(self.close)

    # -- looking -----------------------------------------------------------------------------------

    async def come(self, data: Mapping[Any, Any], request: gr.Request) -> AsyncIterator[Updates]:
        """The view as it comes into sight, and again once the models are there."""
        asked = self._asked(data)
        while not self._model_host.settled:
            yield self._shown(asked, request)
            await settled(self._model_host)
            asked = replace(asked, profile=HERE, rates=None)
        yield self._shown(asked, request)

    def look(self, data: Mapping[Any, Any], request: gr.Request) -> Updates:
        """What another choice makes of it, at once, and what it can be compared with."""
        updates = self._shown(self._asked(data), request)
        return {part: updates[part] for part in (self.board, self.against) if part in updates}

    def _asked(self, data: Mapping[Any, Any]) -> FormValues:
        return FormValues(
            data[self.profile],
            data[self.against],
            data[self.rates],
            data[self.nodes],
            data[self.store],
        )

    def _shown(self, asked: FormValues, request: gr.Request) -> Updates:
        """Updates of the board and the menus; where a value is refused, everything on screen
        stays."""
        entries = self._entries(asked.store)
        vectors = view.rates_of(pair_now(self._model_host))
        profile = _known(asked.profile, entries, next(iter(entries), None))
        same = _same(entries, profile)
        against = _known(asked.against, entries, NONE)
        notice = (
            f"{entries[against].name} has the very times on show: there is nothing to compare"
            if against in same
            else None
        )
        against = NONE if notice else against
        # the pair's own come first
        rates = _known(asked.rates, vectors, USUAL if USUAL in vectors else next(iter(vectors)))
        try:
            entry = entries.get(profile)
            text = self._message(
                entry, entries.get(against), rates, vectors, asked.nodes, request, notice
            )
        except SequoiaError as problem:
            return {self.board: notice_message(error=str(problem))}
        return {
            self.board: text,
            self.profile: gr.update(choices=_named(entries), value=profile),
            self.against: gr.update(
                choices=[("nothing", NONE), *_named(entries, same)], value=against
            ),
            self.rates: gr.update(choices=_rate_choices(vectors), value=rates),
        }

    def _message(
        self,
        entry: Entry | None,
        against: Entry | None,
        rates: str,
        vectors: dict[str, Rates],
        nodes: Any,
        request: gr.Request,
        notice: str | None,
    ) -> str:
        if entry is None:
            raise BadProfile("no profile is at hand; measure this machine or import one")
        nodes = self._nodes(nodes)
        recording = self._live.run_store.get(request.query_params.get("run"))
        pair = pair_now(self._model_host)
        run = recording.run() if recording else None
        if run and pair and not made_with(run.meta, pair):
            run = None  # other models than those whose times and acceptance stand beside it
        return view.message(
            entry,
            vectors[rates],
            nodes,
            against,
            run,
            machine(pair) if pair else None,
            vectors,
            notice,
            self._limits.nodes,
        )

    def _nodes(self, typed: Any) -> int | None:
        """What was typed as "Nodes at most"; None where the field is empty."""
        if typed is None or (isinstance(typed, str) and not typed.strip()):
            return None
        nodes = int(typed) if isinstance(typed, str) and _NUMBER.fullmatch(typed) else typed
        try:
            return whole(nodes, "nodes", 1, self._limits.nodes, BadTree)
        except BadTree as problem:
            raise with_labels(problem, {"nodes": "Nodes at most"}) from None

    def _entries(self, store: Any) -> dict[str, Entry]:
        """All profiles by key, this machine's first."""
        pair = pair_now(self._model_host)
        here = {HERE: Entry("this machine", machine(pair))} if pair else {}
        return {
            **here,
            **{f"kept:{name}": entry for name, entry in saved_profiles.kept(store).items()},
            **saved_profiles.shipped(),
        }

    # -- measuring ---------------------------------------------------------------------------------

    def measure(self, data: Mapping[Any, Any], request: gr.Request) -> Iterator[Updates]:
        """Time this machine; the view then shows the new profile. Stopped,
        everything stays as it was."""
        task = ProfileJob(self._model_host)
        try:
            self.sessions.go(visitor(request), task)
        except SequoiaError as problem:
            yield self._refused(problem, "Not measured")
            return
        yield {
            self.measure_it: gr.update(interactive=False),
            self.stop_it: gr.update(interactive=True),
        }
        try:
            yield from (self._report_message(report) for report in task.reports())
        finally:  # also when the page is closed, which ends this generator at its next yield
            task.halt()
        rest = {
            self.measure_it: gr.update(interactive=True),
            self.stop_it: gr.update(interactive=False),
        }
        yield {
            **rest,
            **(self._shown(replace(self._asked(data), profile=HERE), request) if task.done else {}),
        }

    def _report_message(self, report: Report) -> Updates:
        if report.error:
            warn(report.error, "Not measured")
        share = None if report.over else report.share
        return {
            self.board: notice_message(error=report.error, notice=report.words or None, share=share)
        }

    def stop_measuring(self, request: gr.Request) -> None:
        """The measurement ends after its present passes."""
        self.sessions.stop(visitor(request))

    def close(self, request: gr.Request) -> None:
        """The page was closed."""
        self.sessions.close(visitor(request))

    # -- keeping -----------------------------------------------------------------------------------

    def keep(self, data: Mapping[Any, Any], request: gr.Request) -> Updates:
        """Keep the present profile in the browser under a name."""
        asked = self._asked(data)
        try:
            entry = (
                self._entries(asked.store).get(asked.profile)
                if isinstance(asked.profile, str)
                else None
            )
            if entry is None:
                raise BadProfile(f"profile: {shown(asked.profile)} is not in the list")
            return self._stored(
                replace(entry, name=saved_profiles.named(data[self.name])), asked, request
            )
        except SequoiaError as problem:
            return self._refused(problem, "Not kept")

    def take(self, data: Mapping[Any, Any], request: gr.Request) -> Updates:
        """Import a file: its profile is kept in the browser and shown."""
        try:
            return self._stored(saved_profiles.opened(data[self.open]), self._asked(data), request)
        except SequoiaError as problem:
            return self._refused(problem, "Not imported")

    def drop(self, data: Mapping[Any, Any], request: gr.Request) -> Updates:
        """Remove the present profile from the browser; others cannot be removed."""
        asked = self._asked(data)
        if not isinstance(asked.profile, str) or asked.profile.removeprefix(
            "kept:"
        ) not in saved_profiles.kept(asked.store):
            return self._refused(
                BadProfile("only a profile that you keep under a name can be removed"),
                "Not removed",
            )
        left = saved_profiles.without(asked.store, asked.profile.removeprefix("kept:"))
        return {**self._shown(replace(asked, profile=HERE, store=left), request), self.store: left}

    def _stored(self, entry: Entry, asked: FormValues, request: gr.Request) -> Updates:
        store = saved_profiles.keep(asked.store, entry)
        return {
            **self._shown(replace(asked, profile=f"kept:{entry.name}", store=store), request),
            self.store: store,
        }

    def _refused(self, problem: SequoiaError, title: str) -> Updates:
        warn(str(problem), title)
        return {self.board: notice_message(error=f"{title}: {problem}")}


def _board() -> gr.HTML:
    """What the browser draws. Its value is a message of view.py; it says `select` whenever it
    comes into sight."""
    return gr.HTML(
        html_template='<div class="sq-stage hw-stage"></div>',
        apply_default_css=False,
        elem_id="hw-view",
        elem_classes="pg-view",
        js_on_load=connect("hardware/hardware_view", ["select"]),
    )


def _known(key: Any, among: Mapping[str, Any], otherwise: Any) -> Any:
    return key if isinstance(key, str) and key in among else otherwise


def _named(entries: Mapping[str, Entry], same: Set[str] = frozenset()) -> list[tuple[str, str]]:
    return [
        (f"{entry.name} · {'the one on show' if key in same else entry.profile.source}", key)
        for key, entry in entries.items()
    ]


def _same(entries: Mapping[str, Entry], key: Any) -> set[str]:
    """The keys of entries with the times of the one of `key`, under whatever name: compared with it
    they would show nothing."""
    own = _times(entries[key]) if key in entries else None
    return {other for other, entry in entries.items() if _times(entry) == own}


def _times(entry: Entry) -> tuple[Any, ...]:
    profile = entry.profile
    return (
        profile.target_seconds,
        profile.draft_seconds,
        profile.overhead_seconds,
        profile.level_overhead,
    )


def _rate_choices(vectors: dict[str, Rates]) -> list[tuple[str, str]]:
    return [(f"{rates.name} · {rates.label}", key) for key, rates in vectors.items()]
