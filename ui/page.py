"""Puts the page together from its header and its views. For logs, a handler is named after its view
and the function in the code."""

from __future__ import annotations

from typing import Any, Protocol

import gradio as gr
from starlette.middleware import Middleware

from ui.api import add_api
from ui.engines.tab import EnginesTab
from ui.experiments.tab import ExperimentsTab
from ui.film.tab import FilmTab, first_frame
from ui.hardware.tab import HardwareTab
from ui.lab.tab import LabTab
from ui.lossless.tab import LosslessTab
from ui.models.tab import ModelsTab
from ui.paper.tab import PaperTab
from ui.run.tab import RunTab
from ui.serving.guards import Address, all_guards
from ui.serving.held_streams import HeldStreams
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.owner import OwnerLink
from ui.serving.page_cache import PageCache
from ui.shared import markup, serve_modules
from ui.shared.layout import FIRST, header
from ui.shared.theme import FOLDER, theme
from ui.tour.tab import TourTab
from ui.walk.tab import WalkTab

TITLE = "Sequoia: tree speculative decoding, live"


class View(Protocol):
    """The content of a tab, or of the drawer with the models."""

    def build(self) -> None: ...
    def wire(self, blocks: gr.Blocks, /) -> None: ...


def page(
    model_host: ModelHost,
    limits: Limits,
    online: bool | None = None,
    api_limits: Limits | None = None,
) -> gr.Blocks:
    """The page as Gradio Blocks, with a queue for its requests. online: whether models may be
    downloaded. None: they may, unless HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set. api_limits: on
    runs that other programs ask for; None to refuse them."""
    with gr.Blocks(
        title=TITLE, analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)
    ) as blocks:
        top = header(model_host.status_json if limits.models else None)
        runs = RunTab(model_host, limits, top)
        lossless = LosslessTab(model_host, limits)
        views: dict[str, View] = {
            "run": runs,
            "film": FilmTab(model_host, runs),
            "tour": TourTab(model_host, lossless),
            "lab": LabTab(model_host, limits, runs),
            "walk": WalkTab(),
            "lossless": lossless,
            "experiments": ExperimentsTab(model_host, limits),
            "hardware": HardwareTab(model_host, limits, runs),
            "engines": EnginesTab(),
            "paper": PaperTab(),
        }
        owners = dict[int, str]()  # the view of each handler
        # the row of these tabs is hidden: the header's navigation takes its place
        with gr.Tabs(selected=FIRST, overflow_behavior="wrap"):
            for name, view in views.items():
                with gr.Tab(name, elem_id=f"view-{name}", id=name):
                    view.build()
                owners = dict.fromkeys(blocks.fns, name) | owners
        if limits.models:
            views["models"] = ModelsTab(model_host, limits, online)
            _drawer(top, views["models"])
            owners = dict.fromkeys(blocks.fns, "models") | owners
        for name, view in views.items():
            view.wire(blocks)
            owners = dict.fromkeys(blocks.fns, name) | owners
    for number, handler in blocks.fns.items():
        own = handler.name if handler.fn else "script"
        handler.api_name = f"{owners[number]}_{own}"
    with blocks:
        add_api(model_host, api_limits)
    return blocks.queue(api_open=False, max_size=limits.requests, default_concurrency_limit=8)


def _drawer(top: gr.HTML, view: View) -> None:
    """Lay `view` out in the drawer that the header opens. The browser builds it when the visitor
    opens it for the first time."""
    with gr.Column(visible=False, elem_id="pg-models") as drawer:
        view.build()
    built = markup.literal(gr.update(visible=True))
    top.models(None, None, drawer, js=f"() => ({built})", api_visibility="private")


def launch_options(
    model_host: ModelHost, limits: Limits, address: Address | None = None
) -> dict[str, Any]:
    """Arguments of `Blocks.launch`, without host and port. address: the host names that the server
    answers to, and the proxies that it trusts. Default: `Address()`."""
    return {
        "theme": theme(),
        "app_kwargs": {
            "routes": [serve_modules.route()],
            "middleware": [
                *all_guards(limits, address or Address()),
                Middleware(OwnerLink, owner=model_host.owner),
                Middleware(
                    PageCache, **serve_modules.in_head(), frame=first_frame(model_host.draft)
                ),
                Middleware(HeldStreams, close=model_host.leave, keeps=model_host.keeps),
            ],
        },
        "favicon_path": str(FOLDER / "favicon.svg"),
        "footer_links": [],
        "run_history": False,
        "show_error": False,
        "ssr_mode": False,
        "mcp_server": False,
        "max_file_size": limits.upload,
        "max_threads": limits.handlers,
        "state_session_capacity": 96,
        "quiet": True,
    }
