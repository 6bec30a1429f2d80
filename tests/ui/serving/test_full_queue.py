"""Pages open and recordings play while the queue of runs is full, and the next run is refused with
a message. If runs waited in Gradio's own queue, they could fill it, and page loads would be refused
too."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest
from http_client import Client

from sequoia import Pair
from ui import page
from ui.run import recordings
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost

LIMITS = replace(LOCAL, waiting=6)


@pytest.fixture
def busy(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[gr.Blocks]:
    """A served page whose models are in use all the time."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    model_host = ModelHost(lambda: pair, LIMITS.waiting)
    model_host.open()
    blocks = page.page(model_host, LIMITS)
    blocks.launch(prevent_thread_lock=True, **page.launch_options(model_host, LIMITS))
    ended = threading.Event()
    begun = threading.Event()

    def use() -> None:
        with model_host.turn(lambda: False, lambda ahead: None):
            begun.set()
            ended.wait()

    threading.Thread(target=use, daemon=True).start()
    assert begun.wait(30)
    yield blocks
    model_host.close("The server was stopped.")
    ended.set()
    blocks.close(verbose=False)


def reply(client: Client, name: str, **fields: Any) -> str:
    """What the server sends until the handler has ended."""
    assert client.join(name, **fields).status_code == 200
    return "".join(json.dumps(event) for event in client.events())


def test_pages_open_while_the_queue_is_full(busy: gr.Blocks) -> None:
    clients = [Client(busy.local_url) for _ in range(2 * LIMITS.waiting + 2)]
    first = clients[: LIMITS.waiting - 1]
    for client in first:
        assert client.join("run_run").status_code == 200
        events = client.events()
        while "ahead of you, " not in (said := json.dumps(next(events))):
            pass
        assert "seconds" in said  # the expected wait
    for client in clients[len(first) :]:
        said = reply(client, "run_run")
        assert "runs are running or waiting already, " in said
        assert "try again later" in said
    limiter = busy.limiter
    assert limiter is not None
    assert limiter.borrowed_tokens == 0  # waiting runs hold none of Gradio's threads
    newcomer = Client(busy.local_url)
    assert "recorded" in reply(newcomer, "run_load")
    for example in recordings.examples():
        assert "max_new_tokens" in reply(newcomer, "run_example", pg_example=example.name)
    tabs = "".join(reply(newcomer, name) for name in ("lab_come", "hardware_come", "models_come"))
    assert "survey" in tabs  # the message of the Lab
    assert "overhead" in tabs  # the message of Hardware
