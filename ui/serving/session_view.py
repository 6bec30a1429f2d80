"""Base class of the views in which each visitor runs one job at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

import gradio as gr

from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.sessions import R, Sessions
from ui.shared.events import visitor


class SessionView(Generic[R]):
    """A view whose handlers start, stop and forget the jobs of its visitors. One object serves all
    visitors."""

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        self._model_host = model_host
        self._limits = limits
        self.sessions: Sessions[R] = Sessions(limits)
        model_host.sessions.append(self.sessions)

    def start(self, request: gr.Request, job: R, steps: int | None = None) -> None:
        """Start `job`, new or paused, as the visitor's; `steps` None means to its end. Raises Busy
        if the visitor has a job in line already, here or in another view, or if there is no
        room."""
        who = visitor(request)
        with self._model_host.one_each.entering(who, request, job):
            self.sessions.go(who, job, steps)

    def stop(self, request: gr.Request) -> None:
        """Stop the visitor's job after its current step."""
        self.sessions.stop(visitor(request))

    def close(self, request: gr.Request) -> None:
        """The page was closed: stop the visitor's job after its current step and forget it."""
        self.sessions.close(visitor(request))


def sent_with(event: gr.EventData) -> Mapping[str, Any]:
    """The object that the browser sent with `event`; empty for anything else."""
    return event._data if isinstance(event._data, Mapping) else {}


def parse_missed(asked: Any) -> tuple[Any, int]:
    """Parse a request [name, index] for data that the browser missed, from `index` on; (None, 0) if
    malformed."""
    if isinstance(asked, list) and len(asked) == 2 and type(asked[1]) is int and asked[1] >= 0:
        return asked[0], asked[1]
    return None, 0
