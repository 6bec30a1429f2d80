"""The race view: handlers behind its form and its stage. Every handler is safe for any
caller and any value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import gradio as gr

from sequoia import SequoiaError, Tree
from sequoia.assets_folder import ASSETS
from sequoia.errors import BadTrace, BadTree
from sequoia.saved_files.race_file import LaneLog, RaceLog
from sequoia.saved_files.run_file import MAX_CHARS, Run
from sequoia.validate_input import whole
from ui.decode import recordings
from ui.decode.recordings import RunStore, file_name
from ui.decode.tab import LiveView, download, visitor, warn
from ui.race.form import RaceControls, details_of, race_controls
from ui.race.messages import OpenedRace, StoredRace, notice_message
from ui.race.request import NO_LANE, RaceRequest
from ui.race.run import RaceJob
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Limits, Sessions
from ui.shared import markup
from ui.shared.call_modules import call, connect
from ui.shared.menus import on_choice
from ui.shared.tree_menu import entry_of

RACES = ASSETS / "races"
WELCOME = "welcome"
Updates = dict[Any, Any]


def opened(path: Any, most: int) -> OpenedRace:
    """The race in the file at `path`, of at most `most` bytes. Raises BadTrace with a reason
    fit for the visitor."""
    return OpenedRace(RaceLog.from_json(recordings.text_of(path, most, "race")))


def welcome() -> OpenedRace | None:
    """The race the view opens on; None where it cannot be read."""
    try:
        return opened(str(RACES / f"{WELCOME}.json"), MAX_CHARS)
    except SequoiaError:
        return None


class RaceTab:
    """The view's components and what happens when they are used. One object serves all visitors."""

    def __init__(self, model_host: ModelHost, limits: Limits, live: LiveView) -> None:
        self._model_host = model_host
        self._limits = limits
        self._live = live
        self.sessions: Sessions[RaceJob] = Sessions(limits)
        self.run_store: RunStore[StoredRace] = RunStore(limits.runs, limits.weight)
        self._welcome = welcome()

    def build(self) -> None:
        """Lay the view out in the present container."""
        with gr.Row(elem_id="rc-page", elem_classes="pg-page", equal_height=False):
            with gr.Column(elem_id="rc-side", elem_classes="pg-side", scale=0, min_width=276):
                self.form: RaceControls = race_controls(self._limits)
                self._live.chats.append(self.form.chat)
            with gr.Column(elem_id="rc-main", elem_classes="pg-main", min_width=480):
                self.board = self._board()

    def _board(self) -> gr.HTML:
        """What the browser draws. Its value is a message of race_messages.py."""

        def get_moves(
            asked: Any,
        ) -> str:  # Gradio marks the function, which a method would not allow
            return self.get_moves(asked)

        return gr.HTML(
            html_template='<div class="sq-stage"></div>',
            apply_default_css=False,
            elem_id="rc-view",
            elem_classes="pg-view",
            server_functions=[get_moves],
            js_on_load=connect("race/connect", ["apply", "open", "come"], server=True),
        )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers. No endpoint is offered to programs;
        racing is model work."""
        form = self.form
        live = self._live
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        engine = {
            **quiet,
            "concurrency_id": "engine",
            "concurrency_limit": self._limits.waiting,
            "trigger_mode": "once",
        }
        starts = [form.run.click, form.prompt.submit]
        gr.on(starts, self.going, None, form.buttons, queue=False, **quiet)
        gr.on(
            starts, self.run, form.form, self.board, **engine
        ).then(  # every output costs milliseconds a message: it has one
            self.rested, None, form.buttons, queue=False, **quiet
        )
        form.stop.click(self.stop, None, None, queue=False, **quiet)
        for lane in form.lanes:
            on_choice(
                lane.kind,
                self.details,
                [live.form.tree, live.form.branching],
                lane.details,
                queue=False,
                **quiet,
            )
        form.open.upload(self.open, form.open, [self.board, form.save], **quiet)
        form.example.click(self.example, None, [self.board, form.save], **quiet)
        kinds: list[Any] = [lane.kind for lane in form.lanes]
        details = [part for lane in form.lanes for part in lane.details]
        applied = self.board.apply(self.apply, {*kinds}, [self.board, *kinds, *details], **quiet)
        # to the words that say what was done
        applied.then(None, None, None, js="() => scrollTo(0, 0)", api_visibility="private")
        lane = self.board.open(
            self.open_lane, None, [live.stage, live.form.save, *live.form.course], **quiet
        )
        lane.success(
            None,
            None,
            None,
            js=call("shared/tabs", "web.showDecode()"),
            api_visibility="private",
        )
        for comes in (
            blocks.load,
            self.board.come,
        ):  # the view asks where the page's own event came too early for it
            comes(self.load, None, [self.board, form.save], **quiet)
        blocks.unload(self.close)

    # -- races -------------------------------------------------------------------------------------

    def run(self, data: Mapping[Any, Any], request: gr.Request) -> Iterator[str]:
        """A race to its end, and then what is found out about it."""
        who = visitor(request)
        try:
            race = RaceJob(
                RaceRequest.parse(self.form.values(data), self._limits),
                self._model_host,
                self._limits,
                self.run_store,
            )
            self.sessions.go(who, race)
        except SequoiaError as problem:
            warn(str(problem), "Not raced")
            yield notice_message(error=str(problem))
            return
        try:
            yield from race.messages()
        finally:  # also when the page is closed, which ends this generator at its next yield
            race.halt()
        if race.error:
            warn(race.error, "The race broke off")

    def going(self) -> Updates:
        """The buttons when a race begins."""
        return self.form.resting(False)

    def rested(self, request: gr.Request) -> Updates:
        """The buttons and the file after a race or a refusal."""
        race = self.sessions.get(visitor(request))
        if race and race.busy:
            return self.going()
        if race is None or race.recording is None:
            return self.form.resting()
        kept = race.recording
        race.forget()
        self.run_store.put(kept)  # its weight is known now
        return {**self.form.resting(), self.form.save: self._file(kept)}

    def details(self, kind: Any, tree: Any, parents: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Updates of a lane's numbers and verifier; the lab's tree is the one that it gave to the
        live view, if it did."""
        numbers, verifier = details_of(kind)
        return {**numbers, **({"value": parents} if kind == tree == "lab" else {})}, verifier

    def stop(self, request: gr.Request) -> None:
        """All lanes end after the present step; once they have, what is being found out ends."""
        self.sessions.stop(visitor(request))

    def close(self, request: gr.Request) -> None:
        """The page was closed: the engine is free after the present step."""
        self.sessions.close(visitor(request))

    def apply(self, data: Mapping[Any, Any], event: gr.EventData) -> Updates:
        """Put a remedy's tree into the form of its lane."""
        asked = event._data if isinstance(event._data, Mapping) else {}
        slots = [lane for lane in self.form.lanes if data[lane.kind] != NO_LANE] or list(
            self.form.lanes
        )
        try:
            place = whole(asked.get("lane"), "lane", 0, len(slots) - 1, BadTree)
            tree = Tree.from_parents(asked.get("parents", ()))
            whole(len(tree), "nodes of the tree", 1, self._limits.nodes, BadTree)
        except SequoiaError as problem:
            warn(str(problem), "Not applied")
            return {self.board: notice_message(error=f"Not applied: {problem}")}
        lane = slots[place]
        (kind, fields, words) = entry_of(tree)
        numbers, verifier = details_of(kind)
        return {
            lane.kind: kind,
            lane.verifier: verifier,
            lane.numbers: {**numbers, "value": fields},
            self.board: notice_message(
                notice=(
                    f"Lane {self.form.lanes.index(lane) + 1} is now {words}; press Run to race it."
                )
            ),
        }

    # -- recordings --------------------------------------------------------------------------------

    def load(self, request: gr.Request) -> Updates:
        """What the view opens on: the race named in the page's address while it is kept, else
        the recorded one."""
        kept = self.run_store.get(request.query_params.get("race"))
        if kept is None or not kept.weight:
            return self.example()
        return {self.board: kept.whole(), self.form.save: self._file(kept)}

    def example(self) -> Updates:
        """The recorded race that comes with the program."""
        if self._welcome is None:
            return {self.board: notice_message(notice="No recorded race is at hand; press Run.")}
        return {self.board: self._welcome.whole(), self.form.save: self._file(self._welcome)}

    def open(self, path: Any) -> Updates:
        """Play the race in an uploaded file; with any other file everything on screen stays."""
        try:
            kept = opened(path, self._limits.upload)
        except SequoiaError as problem:
            warn(str(problem), "Not opened")
            return {self.board: notice_message(error=f"Not opened: {problem}")}
        self.run_store.put(kept)
        return {self.board: kept.whole(), self.form.save: self._file(kept)}

    def open_lane(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Play the run of one lane, {race, lane}, in the live view. Raises gr.Error, shown as a
        message, where there is none."""
        try:
            asked = event._data if isinstance(event._data, Mapping) else {}
            kept = self._kept(asked.get("race"))
            lanes = kept.log().lanes if kept else ()
            if not lanes:
                raise BadTrace("the race is no longer kept")
            return self._live.show(
                _titled(lanes[whole(asked.get("lane"), "lane", 0, len(lanes) - 1, BadTrace)]),
                request,
            )
        except SequoiaError as problem:
            raise gr.Error(markup.toast(f"Not opened: {problem}"), print_exception=False) from None

    def get_moves(self, asked: Any) -> str:
        """Moves a browser has missed, from [race, first] on, with all trees."""
        name, first = asked if isinstance(asked, list) and len(asked) == 2 else (None, None)
        kept = self._kept(name)
        if kept is None or type(first) is not int or first < 0:
            return notice_message(
                error="The race is no longer kept; its missing moves cannot be had."
            )
        return kept.since(first)

    def _kept(self, name: Any) -> StoredRace | None:
        return (
            self._welcome
            if self._welcome and name == self._welcome.name
            else self.run_store.get(name)
        )

    def _file(self, kept: StoredRace) -> dict[str, Any]:
        """The update of the button that saves the race."""
        try:
            return download(kept.log().to_json(), file_name("race", kept.meta))
        except SequoiaError as problem:
            warn(str(problem), "Cannot be saved")
            return gr.update(interactive=False)


def _titled(lane: LaneLog) -> Run:
    """The run of `lane`, which says where it is from."""
    return replace(lane.run, meta={**lane.run.meta, "title": f"lane {lane.name} of a race"})
