"""Fixtures: a model host with a tiny pair, runs on this host, the Run view, and the warnings
that pop up. Every test has its own host, but all tests share the pair and its measurements."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import fakes
import gradio as gr
import pytest
from visits import Gate, laid_out, run_request, wait

import ui.run.decode_job
from sequoia import Pair, Race
from ui.run import run_handlers
from ui.run.decode_job import DecodeJob
from ui.run.recordings import RunStore
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL, Limits
from ui.serving.model_host import ModelHost
from ui.shared.layout import header


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
def make(model_host: ModelHost) -> Callable[..., DecodeJob]:
    """A function that makes a run from the fields of its request. limits=, model_host= and
    run_store= replace the defaults."""

    def made(
        limits: Limits = LOCAL,
        model_host: ModelHost = model_host,
        run_store: RunStore | None = None,
        **fields: Any,
    ) -> DecodeJob:
        return DecodeJob(run_request(**fields), model_host, limits, run_store or RunStore(8, 10**6))

    return made


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Each step of a run waits until the test lets it through."""
    gate = Gate()
    monkeypatch.setattr(ui.run.decode_job, "Race", gate.before(Race))
    yield gate
    gate.open()


@pytest.fixture
def popups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the warnings that pop up during the test."""
    popups: list[str] = []
    monkeypatch.setattr(gr, "Warning", lambda text, **_: popups.append(text))
    return popups


@pytest.fixture
def view(model_host: ModelHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunTab:
    """The Decode view in a Gradio layout. Files for download are written to the test's folder."""
    monkeypatch.setattr(run_handlers, "get_upload_folder", lambda: str(tmp_path))
    with laid_out():
        view = RunTab(model_host, LOCAL, header())
        view.build()
    return view
