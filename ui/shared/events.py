"""What all views use of Gradio's events: their options, what handlers are given and return, and the
visitor's key. No endpoint is offered to programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from ui.shared import markup
from ui.shared.call_modules import call

# What Gradio gives a handler with a set of components as its inputs: their values, which nobody has
# checked. What a handler returns: new values or updates. Both by component.
FormData = Mapping[Any, Any]
Updates = dict[Any, Any]

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
UNQUEUED: dict[str, Any] = {**QUIET, "queue": False}


def model_work(waiting: int) -> dict[str, Any]:
    """Options of an event that uses the models. All views share one queue of our own, in which at
    most `waiting` visitors wait; Gradio lets more through, so that those beyond get a message."""
    return {
        **QUIET,
        "concurrency_id": "engine",
        "concurrency_limit": 2 * waiting,
        "trigger_mode": "once",
    }


def note_form(blocks: gr.Blocks, tab: str, parts: Mapping[str, Any]) -> None:
    """Let the browser note the values of a tab's form, when the page is loaded and after each
    change: the page's address holds them. The server takes no part in it."""
    names = f"{markup.literal(tab)}, {markup.literal(list(parts))}"
    gr.on(
        [blocks.load, *(part.change for part in parts.values())],
        None,
        list(parts.values()),
        None,
        js=call("shared/form_values", f"web.note({names}, values)", "...values"),
        api_visibility="private",
    )


def visitor(request: gr.Request) -> str:
    """The key of the visitor's session."""
    return str(request.session_hash)[:200]
