"""The whole page: header and views, put together and set up to be served. No logic."""

from __future__ import annotations

from typing import Any, Protocol

import gradio as gr

from . import hardware_tab, lab, models_tab, race_tab, stage
from .decode import LiveView
from .engine_room import EngineRoom
from .hardware_tab import HardwareTab
from .lab import LabTab
from .models_tab import ModelsTab
from .race_tab import RaceTab
from .session import Limits
from .theme import FOLDER, theme

TITLE = "Sequoia: tree speculative decoding, live"


class View(Protocol):
    """A tab of the page."""

    def build(self) -> None: ...
    def wire(self, blocks: gr.Blocks) -> None: ...


def page(room: EngineRoom, limits: Limits, online: bool | None = None) -> gr.Blocks:
    """The page as Blocks with its queue. Further views become tabs beside the live one. online: whether the hub may be asked for
    models that a visitor wants, None for yes unless HF_HUB_OFFLINE is set."""
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)) as blocks:
        header = stage.header(room.told if limits.models else None)
        live = LiveView(room, limits, header)
        hardware = HardwareTab(room, limits, live)
        views: dict[str, View] = {"Decode": live, "Race": RaceTab(room, limits, live),
                                  "Lab": LabTab(room, limits, live, hardware), "Hardware": hardware}
        if limits.models:
            views["Models"] = ModelsTab(room, limits, online)
        _lay_out(views)
        for view in views.values():
            view.wire(blocks)
    return blocks.queue(api_open=False, max_size=2 * limits.waiting, default_concurrency_limit=8)


def _lay_out(views: dict[str, View]) -> None:
    if len(views) == 1:  # a bar with one tab would only take room
        next(iter(views.values())).build()
        return
    with gr.Tabs():
        for name, view in views.items():
            with gr.Tab(name):
                view.build()


def launch_options(limits: Limits) -> dict[str, Any]:
    """Arguments of `launch` that do not depend on where the page is served."""
    return {"theme": theme(), "head": stage.head() + lab.head() + hardware_tab.head() + race_tab.head() + models_tab.head(),
            "favicon_path": str(FOLDER / "favicon.svg"),
            "footer_links": [], "run_history": False, "show_error": False, "ssr_mode": False, "mcp_server": False,
            "max_file_size": limits.upload, "state_session_capacity": 96, "quiet": True}
