"""Helpers for tests of the page: layouts, requests, forms, messages, waiting for a thread, and
decoders or races whose steps wait or take longer."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import gradio as gr

from sequoia import SamplingParams
from ui.decode import clocks
from ui.decode.form import FORM
from ui.decode.request import DecodeRequest
from ui.decode.tab import LiveView
from ui.shared.tree_request import TreeRequest


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


def decode_request(
    prompt: str = "def add(a, b):\n    return",
    tokens: int = 24,
    tree_request: TreeRequest | None = None,
    compare: bool = False,
    temperature: float = 1.0,
    seed: int = 1,
    verifier: str = "sequoia",
    chat: bool = False,
    clock: str = "",
) -> DecodeRequest:
    params = SamplingParams(
        temperature=temperature, max_new_tokens=tokens, seed=seed, ignore_eos=True
    )
    return DecodeRequest(
        prompt,
        params,
        tree_request or TreeRequest("kary", (2, 4)),
        verifier,
        compare,
        chat,
        clocks.checked_clock(clock),
    )


def filled(view: LiveView, **changes: Any) -> dict[Any, Any]:
    """The form of a Decode view, as its handlers get it."""
    values = {
        "prompt": "def f(x):",
        "temperature": 1.0,
        "top_p": 1.0,
        "max_new_tokens": 12,
        "seed": 0,
        "tree": "kary",
        "first": 2,
        "second": 3,
        "branching": "2",
        "verifier": "sequoia",
        "compare": False,
        "chat": True,
        "clock": "",
        "profiles": [],
        **changes,
    }
    return {getattr(view.form, name): values[name] for name in (*FORM, "profiles")}


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
