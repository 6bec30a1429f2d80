"""The drawer Models: the pairs that can be loaded, and the handlers that load one. Any client can
safely call every handler with any values. A public page does not have this drawer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr
import torch
from huggingface_hub import constants

from sequoia import SequoiaError
from sequoia.loading.pair_request import BUNDLED_NAME, find
from sequoia.this_machine.dtypes import DTYPES
from ui.models import view
from ui.models.load_job import OWN, LoadJob, field_of, requested_pair
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import ASKED, SessionView, sent_with
from ui.shared import markup
from ui.shared.events import QUIET, UNQUEUED, FormData, Updates, model_work, visitor
from ui.shared.layout import (
    busy_buttons,
    drawn,
    menu,
    on_choice,
    side_and_main,
    start_button,
    stop_button,
)

FORM = ("pair", "target", "draft", "device", "dtype", "offload")


class ModelsTab(SessionView[LoadJob]):
    """The view's components and their handlers."""

    def __init__(self, model_host: ModelHost, limits: Limits, online: bool | None = None) -> None:
        super().__init__(model_host, limits)
        self._online = not constants.HF_HUB_OFFLINE if online is None else online

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("md")
        with side:
            self._form()
        with main:
            self.board = drawn(
                "md",
                "models/models_view",
                ["select", "choose", "ask"],
                '<div class="sq-stage md-stage"></div>',
            )

    def _form(self) -> None:
        with gr.Row(elem_classes="pg-go"):
            self.load_it = start_button("Load", "md-load")
            self.stop_it = stop_button("md-stop")
        self.problem = gr.HTML(visible=False, elem_id="md-problem")
        with gr.Group(elem_classes="pg-group"):
            self.pair = menu(
                [*view.NAMES, ("two models of your own", OWN)],
                "Pair to load",
                "md-pair",
                BUNDLED_NAME,
            )
            self.target = _model_field(
                "Large model (target)", "md-target", "owner/name or a folder"
            )
            self.draft = _model_field(
                "Small model (draft; same tokenizer)",
                "md-draft",
                "owner/name, a folder, int8 or int4: a copy of the large model, or ngram: no model",
            )
        with gr.Group(elem_classes="pg-group"):
            self.device = menu(_devices(), "Device", "md-device", "auto")
            self.dtype = menu(["auto", *DTYPES], "Precision", "md-dtype", "auto")
            self.offload = gr.Checkbox(
                label="Stream the large model from host memory",
                value=False,
                elem_id="md-offload",
                container=False,
                visible=torch.cuda.is_available(),
            )

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form = {getattr(self, name) for name in FORM}
        self.load_it.click(
            self.change,
            form,
            [self.board, self.problem, self.load_it, self.stop_it],
            **model_work(self._limits.waiting),
        )
        self.stop_it.click(self.stop, None, None, **UNQUEUED)
        shown = [self.board, self.problem, self.load_it, self.stop_it]
        self.board.ask(self.job_state, None, shown, **ASKED)
        fields = [self.target, self.draft, self.offload]
        on_choice(self.pair, self.fields, [], fields, **UNQUEUED)
        self.board.select(self.come, None, self.board, concurrency_limit=None, **QUIET)
        self.board.choose(self.choose, None, [self.pair, *fields], **UNQUEUED)

    # -- showing -----------------------------------------------------------------------------------

    async def come(self) -> AsyncIterator[str]:
        """Send the view. If models are being loaded, send it again when loading has ended."""
        while not self._model_host.settled:
            yield self._whole()
            await self._model_host.until_settled()
        yield self._whole()

    def fields(self, name: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Updates of the fields target, draft and offload for the pair `name`. Target and draft are
        shown only for OWN. Offload is ticked if the pair needs it, else unticked."""
        one = find(name)
        own = gr.update(visible=name == OWN)
        return own, own, gr.update(value=bool(one and one.offload))

    def choose(self, event: gr.EventData) -> Updates:
        """Select in the form the pair that the visitor chose in the table."""
        name = sent_with(event).get("pair")
        if name not in view.NAMES:
            return {self.pair: gr.skip()}  # Gradio does not accept an empty update
        target, draft, offload = self.fields(name)
        return {self.pair: name, self.target: target, self.draft: draft, self.offload: offload}

    def _whole(self) -> str:
        return view.whole(self._model_host.pair_now, self._online)

    # -- loading -----------------------------------------------------------------------------------

    async def change(self, data: FormData, request: gr.Request) -> AsyncIterator[Updates]:
        """Download and load the requested models. All visitors then use them, in all views. If that
        fails, the previous models stay in use. If those had to be unloaded to make room, they are
        loaded again if possible."""
        form = {name: data[getattr(self, name)] for name in FORM}
        try:
            self._model_host.owner.require(request, "load")
            task = await self.started(request, lambda: self._job(form))
        except SequoiaError as problem:
            yield self._refused(f"Not loaded: {problem}", field_of(str(problem), form))
            return
        try:
            yield {
                self.problem: gr.update(visible=False),
                **busy_buttons(self.load_it, self.stop_it, True),
            }
            async for report in task.reports():
                field = field_of(report.error, form) if report.error else None
                yield {self.board: view.report_message(report, field)}
        finally:  # also if the page is closed: Gradio then closes this generator
            task.halt()
        yield {self.board: self._whole(), **busy_buttons(self.load_it, self.stop_it, False)}

    def _job(self, form: dict[str, Any]) -> LoadJob:
        """The job that loads the pair requested in `form`. Raises SequoiaError if the request is
        refused."""
        pair_request = requested_pair(form, self._limits)
        view.require_fit(pair_request)
        return LoadJob(self._model_host, pair_request, self._online)

    def buttons_now(self, request: gr.Request) -> Updates:
        job = self.sessions.get(visitor(request))
        return busy_buttons(self.load_it, self.stop_it, job is not None and job.busy)

    def not_running(self, words: str) -> Updates:
        return self._refused(words)

    def _refused(self, words: str, field: str | None = None) -> Updates:
        return {
            self.board: view.no_load_message(field),
            self.problem: gr.update(value=markup.error_banner(words), visible=True),
        }


def _model_field(label: str, elem_id: str, placeholder: str) -> gr.Textbox:
    return gr.Textbox(
        label=label,
        max_lines=1,
        elem_id=elem_id,
        visible=False,
        placeholder=placeholder,
    )


def _devices() -> list[str]:
    cards = [f"cuda:{card}" for card in range(torch.cuda.device_count())]
    return ["auto", "cpu", *cards, *(["spread"] if len(cards) > 1 else [])]
