"""Puts the page together from its header and its tabs. For logs, a handler is named after its tab
and the function in the code."""

from __future__ import annotations

from typing import Any, Protocol

import gradio as gr
from starlette.middleware import Middleware

from ui.api import add_api
from ui.decode.tab import LiveView
from ui.experiments.tab import ExperimentsTab
from ui.hardware.tab import HardwareTab
from ui.lab.tab import LabTab
from ui.lossless.tab import LosslessTab
from ui.models.tab import ModelsTab
from ui.paper.tab import PaperTab
from ui.race.tab import RaceTab
from ui.serving.guards import Address, all_guards
from ui.serving.held_streams import HeldStreams
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.owner import OwnerLink
from ui.serving.page_cache import PageCache
from ui.shared import serve_modules
from ui.shared.layout import header
from ui.shared.theme import FOLDER, theme
from ui.tour.tab import TourTab
from ui.walk.tab import WalkTab

TITLE = "Sequoia: tree speculative decoding, live"


class View(Protocol):
    """The content of a tab."""

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
        live = LiveView(model_host, limits, top)
        views: dict[str, View] = {
            "Decode": live,
            "Tour": TourTab(),
            "Race": RaceTab(model_host, limits, live),
            "Lab": LabTab(model_host, limits, live),
            "Walk": WalkTab(),
            "Lossless": LosslessTab(model_host, limits),
            "Experiments": ExperimentsTab(model_host, limits),
            "Hardware": HardwareTab(model_host, limits, live),
            "Paper": PaperTab(),
        }
        if limits.models:
            views["Models"] = ModelsTab(model_host, limits, online)
        tabs = dict[int, str]()  # the tab of each handler
        with gr.Tabs():
            for name, view in views.items():
                with gr.Tab(name):
                    view.build()
                tabs = dict.fromkeys(blocks.fns, name) | tabs
        for name, view in views.items():
            view.wire(blocks)
            tabs = dict.fromkeys(blocks.fns, name) | tabs
    for number, handler in blocks.fns.items():
        own = handler.name if handler.fn else "script"
        handler.api_name = f"{tabs[number].lower()}_{own}"
    with blocks:
        add_api(model_host, api_limits)
    return blocks.queue(api_open=False, max_size=limits.requests, default_concurrency_limit=8)


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
                Middleware(PageCache, **serve_modules.in_head()),
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
