"""A tiny pair in an engine room, views over it, and orders for it. Every test has its own room;
what the pair has measured is shared."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import fakes
import gradio as gr
import pytest
from visits import decode_request, wait

from sequoia import Pair
from ui.decode import tab
from ui.decode.component import header
from ui.decode.follow_run import LiveRun
from ui.decode.recordings import RunStore
from ui.decode.tab import LiveView
from ui.serving.model_host import ModelHost
from ui.serving.sessions import LOCAL, Limits


@pytest.fixture(scope="session")
def pair() -> Pair:
    return fakes.tiny_pair()


@pytest.fixture
def model_host(pair: Pair) -> ModelHost:
    model_host = ModelHost(lambda: pair, 4)
    model_host.open()
    wait(lambda: model_host.settled, 30)
    return model_host


@pytest.fixture
def make(model_host: ModelHost) -> Callable[..., LiveRun]:
    """Makes a live run: fields of its order by name, and limits=, room=, shelf= where the usual
    ones will not do."""

    def made(
        limits: Limits = LOCAL,
        model_host: ModelHost = model_host,
        run_store: RunStore | None = None,
        **fields: Any,
    ) -> LiveRun:
        return LiveRun(
            decode_request(**fields), model_host, limits, run_store or RunStore(8, 10**6)
        )

    return made


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pop-up messages."""
    said: list[str] = []
    monkeypatch.setattr(gr, "Warning", lambda text, **_: said.append(text))
    return said


@pytest.fixture
def view(model_host: ModelHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveView:
    """The live view, laid out; its files go to a folder of the test's own."""
    monkeypatch.setattr(tab, "get_upload_folder", lambda: str(tmp_path))
    with gr.Blocks():
        view = LiveView(model_host, LOCAL, header())
        view.build()
    return view
