"""Helpers for tests of the page: layouts, requests, forms, messages, waiting for a thread, and
decoders or races whose steps wait or take longer."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import threading
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

import gradio as gr

from ui.run.request import NO_LANE, RunRequest
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL

Lane = tuple[str, str, str]  # kind, numbers as text, verifier
PLAIN = ("plain", "", "sequoia")
KARY = ("kary", "2, 4", "sequoia")


@contextmanager
def laid_out() -> Iterator[None]:
    """A layout for views whose handlers the test calls. Gradio makes no server for it, because that
    would take longer than most tests."""
    with patch.object(gr.Blocks, "queue"):  # `queue` would make a server
        blocks = gr.Blocks(analytics_enabled=False)
    blocks.__enter__()
    try:
        yield
    finally:
        blocks.__exit__(GeneratorExit)  # __exit__ makes no server after an error


def run_request(lanes: Sequence[Lane] = (KARY,), **changes: Any) -> RunRequest:
    """A run to its token limit."""
    form = {
        "prompt": "def add(a, b):\n    return",
        "temperature": 1.0,
        "top_p": 1.0,
        "max_new_tokens": 24,
        "seed": 1,
        "lanes": lanes,
        **changes,
    }
    asked = RunRequest.parse(form, LOCAL)
    return replace(asked, params=replace(asked.params, ignore_eos=True))


def filled(view: RunTab, lanes: Sequence[Lane] = (KARY,), **changes: Any) -> dict[Any, Any]:
    """The form of the Run view, as its handlers get it."""
    values = {
        **values_of(lanes),
        "prompt": "def f(x):",
        "second_prompt": "",
        "temperature": 1.0,
        "top_p": 1.0,
        "max_new_tokens": 12,
        "seed": 0,
        "check": False,
        "chat": True,
        "clock": "",
        **changes,
    }
    profiles = values.pop("profiles", [])
    data = {view.form.fields[name]: value for name, value in values.items()}
    return {**data, view.form.profiles: profiles}


def values_of(lanes: Sequence[Lane]) -> dict[str, Any]:
    """The values of the lanes' fields, by name."""
    every = [*lanes, *[(NO_LANE, "", "sequoia")] * (4 - len(lanes))]
    return {
        f"{name}{number}": value
        for number, lane in enumerate(every, start=1)
        for name, value in zip(("kind", "numbers", "verifier"), lane, strict=True)
    }


def wait(true: Callable[[], Any], seconds: float = 10) -> None:
    """Wait until `true()` returns a true value. Fails after `seconds`."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


def request(
    who: str = "one",
    client: str = "127.0.0.1",
    headers: Mapping[str, str] = MappingProxyType({"host": "localhost"}),
    **query: str,
) -> SimpleNamespace:
    """The parts of a request that handlers read. client: the address that it comes from."""
    lines = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "scheme": "http", "client": (client, 1234), "headers": lines}
    whole = SimpleNamespace(scope=scope)
    return SimpleNamespace(session_hash=who, query_params=query, request=whole)


class Reading:
    """Reads the values that a handler yields, one at a time, as Gradio does. `close` ends the
    handler."""

    def __init__(self, handler: AsyncIterable[Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._received = aiter(handler)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._loop.run_until_complete(anext(self._received))
        except StopAsyncIteration:
            self._loop.close()
            raise StopIteration from None

    def close(self) -> None:
        """End the handler, as Gradio does when the page is closed."""
        assert isinstance(self._received, AsyncGenerator)
        self._loop.run_until_complete(self._received.aclose())
        self._loop.close()


def sent(messages: Iterable[str] | AsyncIterable[str]) -> list[dict[str, Any]]:
    """All messages of a job or of a handler, parsed."""
    received = messages if isinstance(messages, Iterable) else Reading(messages)
    return [json.loads(message) for message in received]


def lane_steps(messages: Iterable[dict[str, Any]], lane: int) -> list[dict[str, Any]]:
    """The steps of a lane in the messages of a run."""
    return [
        step
        for message in messages
        for step, one in zip(message.get("steps", []), message.get("step_lanes", []), strict=True)
        if one == lane
    ]


def results_of(messages: Iterable[dict[str, Any]]) -> list[Any]:
    """The last results in the messages of a run."""
    return [message["results"] for message in messages if message.get("results")][-1]


def csv_files(markup: str) -> dict[str, list[list[str]]]:
    """The rows of the CSV files that are links in `markup`, by name. No name occurs twice."""
    links = re.findall(r'href="data:text/csv;charset=utf-8,([^"]*)" download="([^"]*)"', markup)
    files = {name: [*csv.reader(io.StringIO(unquote(text)))] for text, name in links}
    assert len(files) == len(links)
    return files


class Gate:
    """Makes classes of decoders or races in which each step waits until the test lets it through.
    begun: released by each step when it begins to wait. passes: released by the test, once for each
    step that it lets through."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.passes = threading.Semaphore(0)

    def before(self, kind: type[Any]) -> type[Any]:
        gate = self

        class Gated(kind):
            def step(self) -> Any:
                gate.begun.release()
                assert gate.passes.acquire(timeout=10)
                return super().step()

        return Gated

    def open(self) -> None:
        """Let all further steps through, so that no thread keeps waiting."""
        self.passes.release(10_000)


def slowed(kind: type[Any]) -> type[Any]:
    """A class of decoders or races whose steps take 10 milliseconds longer, so that a test has time
    to interrupt them."""

    class Slow(kind):
        def step(self) -> Any:
            time.sleep(0.01)
            return super().step()

    return Slow
