"""The models view: which pairs there are, and the handlers that load another one. Every handler is
safe for any caller and value.

It is laid out only where the page serves people one knows; its handlers refuse
everyone else all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import gradio as gr
import torch
from huggingface_hub import constants

from sequoia import Pair, SequoiaError
from sequoia.loading.pair_catalog import BUNDLED_NAME, presets
from sequoia.models.fastest_number_type import DTYPES
from ui.decode.tab import visitor, warn
from ui.models import view
from ui.models.load_job import LoadJob
from ui.models.request import OWN, parse
from ui.serving.fair_queue import Cancelled
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Limits, Sessions
from ui.shared.call_modules import connect
from ui.shared.menus import on_choice

FORM = ("pair", "target", "draft", "device", "dtype", "offload")
Updates = dict[Any, Any]


class ModelsTab:
    """The view's components and what happens when they are used. One object serves all visitors."""

    def __init__(self, model_host: ModelHost, limits: Limits, online: bool | None = None) -> None:
        self._model_host = model_host
        self._limits = limits
        self._online = not constants.HF_HUB_OFFLINE if online is None else online
        self.sessions: Sessions[LoadJob] = Sessions(limits)

    def build(self) -> None:
        """Lay the view out in the present container."""
        with gr.Row(elem_id="md-page", elem_classes="pg-page", equal_height=False):
            with gr.Column(elem_id="md-side", elem_classes="pg-side", scale=0, min_width=276):
                self._form()
            with gr.Column(elem_id="md-main", elem_classes="pg-main", min_width=480):
                self.board = gr.HTML(
                    html_template='<div class="sq-stage md-stage"></div>',
                    apply_default_css=False,
                    elem_id="md-view",
                    elem_classes="pg-view",
                    js_on_load=connect("models/models_view", ["select", "choose"]),
                )

    def _form(self) -> None:
        with gr.Row(elem_classes="pg-go"):
            self.load_it = gr.Button(
                "Load", variant="primary", elem_id="md-load", scale=3, min_width=60
            )
            self.stop_it = gr.Button(
                "Stop", elem_id="md-stop", scale=1, min_width=50, interactive=False
            )
        with gr.Group(elem_classes="pg-group"):
            self.pair = gr.Dropdown(
                [(one, one) for one in view.NAMES] + [("two models of your own", OWN)],
                value=BUNDLED_NAME,
                label="Pair",
                elem_id="md-pair",
                filterable=False,
            )
            self.target = gr.Textbox(
                label="Target",
                max_lines=1,
                elem_id="md-target",
                visible=False,
                placeholder="owner/name or a folder",
            )
            self.draft = gr.Textbox(
                label="Draft, with the same tokenizer",
                max_lines=1,
                elem_id="md-draft",
                visible=False,
                placeholder="owner/name or a folder",
            )
        with gr.Group(elem_classes="pg-group"):
            self.device = gr.Dropdown(
                _devices(), value="auto", label="Device", elem_id="md-device", filterable=False
            )
            self.dtype = gr.Dropdown(
                ["auto", *DTYPES],
                value="auto",
                label="Number type",
                elem_id="md-dtype",
                filterable=False,
            )
            self.offload = gr.Checkbox(
                label="Stream the target from memory",
                value=False,
                elem_id="md-offload",
                container=False,
                visible=torch.cuda.is_available(),
            )

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect components and handlers. No endpoint is offered to programs;
        loading is model work."""
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        engine = {
            **quiet,
            "concurrency_id": "engine",
            "concurrency_limit": self._limits.waiting,
            "trigger_mode": "once",
        }
        form = {getattr(self, name) for name in FORM}
        self.load_it.click(self.change, form, [self.board, self.load_it, self.stop_it], **engine)
        self.stop_it.click(self.stop, None, None, queue=False, **quiet)
        on_choice(
            self.pair,
            self.fields,
            [],
            [self.target, self.draft, self.offload],
            queue=False,
            **quiet,
        )
        self.board.select(self.come, None, self.board, concurrency_limit=None, **quiet)
        self.board.choose(
            self.choose,
            None,
            [self.pair, self.target, self.draft, self.offload],
            queue=False,
            **quiet,
        )
        blocks.unload(self.close)

    # -- looking -----------------------------------------------------------------------------------

    async def come(self) -> AsyncIterator[str]:
        """The view as it comes into sight, and again once the models are there."""
        loading = not self._model_host.settled
        yield view.whole(self._pair(), self._online)
        if loading:
            while not self._model_host.settled:
                await asyncio.sleep(0.2)
            yield view.whole(self._pair(), self._online)

    def fields(self, name: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Updates of the fields for two models, shown where they are wanted, and of whether
        layers are streamed."""
        one = next((one for one in presets() if one.name == name), None)
        own = gr.update(visible=name == OWN)
        return own, own, gr.update(value=bool(one and one.offload))

    def choose(self, event: gr.EventData) -> Updates:
        """Put a pair of the table into the form."""
        name = event._data.get("pair") if isinstance(event._data, Mapping) else None
        if name not in view.NAMES:
            return {self.pair: gr.skip()}  # Gradio takes no empty update
        target, draft, offload = self.fields(name)
        return {self.pair: name, self.target: target, self.draft: draft, self.offload: offload}

    def _pair(self) -> Pair | None:
        """The pair, or None while there is none."""
        try:
            return self._model_host.pair(lambda: True) if self._model_host.settled else None
        except (SequoiaError, Cancelled):
            return None

    # -- loading -----------------------------------------------------------------------------------

    def change(self, data: Mapping[Any, Any], request: gr.Request) -> Iterator[Updates]:
        """Fetch and load what the form names; all tabs use it afterwards. Whatever goes wrong, the
        former models stay."""
        try:
            pair_request = parse({name: data[getattr(self, name)] for name in FORM}, self._limits)
            task = LoadJob(self._model_host, pair_request, self._online)
            self.sessions.go(visitor(request), task)
        except SequoiaError as problem:
            warn(str(problem), "Not loaded")
            yield {self.board: view.notice_message(f"Not loaded: {problem}")}
            return
        yield {
            self.load_it: gr.update(interactive=False),
            self.stop_it: gr.update(interactive=True),
        }
        try:
            for report in task.reports():
                yield {self.board: view.report_message(report)}
                if report.error:
                    warn(report.error, "Not loaded")
        finally:  # also when the page is closed, which ends this generator at its next yield
            task.halt()
        yield {
            self.board: view.whole(self._pair(), self._online),
            self.load_it: gr.update(interactive=True),
            self.stop_it: gr.update(interactive=False),
        }

    def stop(self, request: gr.Request) -> None:
        """A download ends now and can be gone on with; reading weights ends after the
        model being read."""
        self.sessions.stop(visitor(request))

    def close(self, request: gr.Request) -> None:
        """The page was closed."""
        self.sessions.close(visitor(request))


def _devices() -> list[str]:
    cards = [f"cuda:{card}" for card in range(torch.cuda.device_count())]
    return ["auto", "cpu", *cards, *(["spread"] if len(cards) > 1 else [])]
