"""Puts the page together from its header and its tabs.

Handlers get names for Gradio's list of endpoints and for logs: the tab, then the name of the
function in the code. If several handlers would have the same name, each name also says what calls
the handler: an event or another handler. By default, Gradio would only add numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Protocol

import gradio as gr
from gradio.block_function import BlockFunction
from starlette.middleware import Middleware

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


def page(model_host: ModelHost, limits: Limits, online: bool | None = None) -> gr.Blocks:
    """The page as Gradio Blocks, with a queue for its requests. online: whether models may be
    downloaded. None: they may, unless HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set."""
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
        handler.api_name = f"{tabs[number].lower()}_{own}"  # shown in logs
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


# -- names of handlers -----------------------------------------------------------------------------


class HandlerNames:
    """Gives the handlers of `blocks` their names, once `belong_to` has assigned each to a tab."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self._blocks = blocks
        self._tabs: dict[int, str] = {}

    def belong_to(self, tab: str) -> None:
        """Assign to `tab` all handlers that were made since the last call."""
        for number in self._blocks.fns:
            self._tabs.setdefault(number, tab.lower())

    def give(self) -> None:
        """Set the `api_name` of every handler."""
        handlers = self._blocks.fns
        short = {number: self._short(number, one) for number, one in handlers.items()}
        count = Counter(short.values())
        for number, one in handlers.items():
            is_alike = count[short[number]] > 1
            one.api_name = f"{short[number]}_{self._caller(one)}" if is_alike else short[number]

    def _short(self, number: int, one: BlockFunction) -> str:
        """The tab and the handler's own name."""
        return f"{self._tabs[number]}_{_own_name(one)}"

    def _caller(self, one: BlockFunction) -> str:
        """What calls the handler: "on_load", "on_" with a component and its event, or "after_" with
        the previous handler of a chain. All earlier handlers of the chain are named, the nearest
        first: "after_second_after_first"."""
        if one.trigger_after is not None:
            before = self._blocks.fns[one.trigger_after]
            further = "" if before.trigger_after is None else f"_{self._caller(before)}"
            return f"after_{_own_name(before)}{further}"
        places = [self._place(number, event) for number, event in one.targets]
        return "on_" + ("load" if "load" in places else min(places))

    def _place(self, number: int | None, event: str) -> str:
        component = self._blocks.blocks.get(number) if number is not None else None
        name = getattr(component, "elem_id", None) or getattr(component, "value", None)
        parts = [part for part in (name, event) if isinstance(part, str)]
        return re.sub(r"\W+", "_", "_".join(parts)).lower()


def _own_name(one: BlockFunction) -> str:
    """The name of the function; "script" for a handler that runs in the browser."""
    return str(one.name) if one.fn else "script"
