"""What all views need for Gradio's events: options of events, types for the inputs and results of
handlers, and the visitor's key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from ui.shared import markup
from ui.shared.serve_modules import call

# FormData: the unvalidated values that Gradio passes to a handler whose inputs are a set. Updates:
# what a handler returns, a new value or the result of gr.update() for each component to change. The
# keys of both are components.
FormData = Mapping[Any, Any]
Updates = dict[Any, Any]

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
UNQUEUED: dict[str, Any] = {**QUIET, "queue": False}


def model_work(waiting: int) -> dict[str, Any]:
    """Options of an event that uses the models. waiting: the capacity of our own queue. Gradio may
    run twice as many of these events at once. So if our queue is full, the visitor gets our message
    instead of waiting in Gradio's queue."""
    return {
        **QUIET,
        "concurrency_id": "engine",
        "concurrency_limit": 2 * waiting,
        "trigger_mode": "once",
    }


def note_form(blocks: gr.Blocks, tab: str, parts: Mapping[str, Any]) -> None:
    """Record the values of a tab's form in the browser when the page loads and after each change,
    so that the page's address can contain them. Nothing is sent to the server."""
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
