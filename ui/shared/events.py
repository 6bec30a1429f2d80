"""Options of Gradio's events that all views use, and the visitor's key. No endpoint is offered to
programs."""

from __future__ import annotations

from typing import Any

import gradio as gr

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
UNQUEUED: dict[str, Any] = {**QUIET, "queue": False}


def model_work(waiting: int) -> dict[str, Any]:
    """Options of an event that uses the models: all views share one queue, in which at most
    `waiting` visitors wait."""
    return {
        **QUIET,
        "concurrency_id": "engine",
        "concurrency_limit": waiting,
        "trigger_mode": "once",
    }


def visitor(request: gr.Request) -> str:
    """The key of the visitor's session."""
    return str(request.session_hash)[:200]
