"""Visits a page without a browser, so that many visitors fit on one machine. A visitor opens the
page, presses buttons and leaves, with the same requests as a browser. A press calls every handler
of the button, then the handlers chained after those. The answers of all queued handlers come on one
stream.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

API = "gradio_api/"
_NO_ANSWER = 180.0  # seconds without a message until a call is abandoned


@dataclass
class Call:
    """One call of a handler. status: the HTTP status of the answer, 0 if none came. words: the
    error, if the request failed. messages: the values of the first output, as (time, value). ended:
    when the server reported the end of the handler, None if it has not. Times are those of
    time.monotonic."""

    name: str
    asked: float
    status: int = 0
    words: str = ""
    messages: list[tuple[float, Any]] = field(default_factory=list)
    ended: float | None = None

    @property
    def stage(self) -> list[tuple[float, dict[str, Any]]]:
        """The messages that are JSON objects. The page draws a view from them."""
        return [(when, json.loads(text)) for when, text in self.messages if is_object(text)]


def is_object(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("{")


class PageVisitor:
    """One visitor's page of the app that `http` reaches. config: Gradio's description of the page's
    components and handlers."""

    def __init__(self, http: httpx.AsyncClient, config: Mapping[str, Any]) -> None:
        self._http = http
        self._handlers = config["dependencies"]
        self._names = {one["id"]: one["props"].get("elem_id") for one in config["components"]}
        self.props = {one["id"]: dict(one["props"]) for one in config["components"]}
        self._session = secrets.token_hex(6)
        self._inbox: dict[str, asyncio.Queue[dict[str, Any]]] = defaultdict(asyncio.Queue)
        self._expected: set[str] = set()
        self._stream: asyncio.Task[None] | None = None

    def prop(self, name: str, prop: str) -> Any:
        """The property `prop` of the component whose elem_id is `name`."""
        return next(self.props[one].get(prop) for one in self._names if self._names[one] == name)

    def set(self, name: str, value: Any) -> None:
        """Fill in a field of the form."""
        for one in self._names:
            if self._names[one] == name:
                self.props[one]["value"] = value

    # -- as a person does --------------------------------------------------------------------------

    async def open(self) -> tuple[int, str, list[Call]]:
        """Load the page. Returns its HTTP status, its text, and the calls made when it loads."""
        answer = await self._http.get("")
        if answer.status_code != 200:
            return answer.status_code, answer.text, []
        return 200, answer.text, await self.press("", "load")

    async def press(self, name: str, event: str = "click") -> list[Call]:
        """Call the handlers of the button `name`, and those chained after them. Returns when every
        call has ended, failed or been abandoned. event: what happens to the button."""
        started = [
            one
            for one in self._handlers
            if any(
                self._names.get(at) == (name or None) and kind == event
                for at, kind in one["targets"]
            )
        ]
        calls = await asyncio.gather(*(self._call_and_follow(one) for one in started))
        return [call for several in calls for call in several]

    async def upload(self, name: str, file: Path) -> list[Call]:
        """Choose a file for the upload button `name`."""
        upload = await self._http.post(
            f"{API}upload", files={"files": (file.name, file.read_bytes(), "application/json")}
        )
        if upload.status_code != 200:
            return [Call("upload", time.monotonic(), upload.status_code, upload.text)]
        found = {"path": upload.json()[0], "orig_name": file.name}
        self.set(name, {**found, "meta": {"_type": "gradio.FileData"}})
        return await self.press(name, "upload")

    async def leave(self) -> None:
        """Close the page, which tells the server so."""
        if self._stream:
            self._stream.cancel()
            await asyncio.gather(self._stream, return_exceptions=True)
        with suppress(httpx.HTTPError):
            await self._http.post(f"{API}queue/left?session_hash={self._session}")

    # -- Gradio's protocol -------------------------------------------------------------------------

    async def _call_and_follow(self, handler: Mapping[str, Any]) -> list[Call]:
        calls: list[Call] = []
        if handler["backend_fn"]:
            calls = [await self._call(handler)]
            if calls[0].status != 200:
                return calls  # as in the browser, nothing follows a refused request
        after = [one for one in self._handlers if one.get("trigger_after") == handler["id"]]
        for one in after:
            calls += await self._call_and_follow(one)
        return calls

    async def _call(self, handler: Mapping[str, Any]) -> Call:
        call = Call(handler["api_name"], time.monotonic())
        body = {
            "data": [self.props[one].get("value") for one in handler["inputs"]],
            "event_data": None,
            "fn_index": handler["id"],
            "trigger_id": handler["targets"][0][0],
            "session_hash": self._session,
        }
        route = "queue/join" if handler["queue"] else "run/predict"
        try:
            answer = await self._http.post(f"{API}{route}", json=body)
        except httpx.HTTPError as problem:
            call.words = repr(problem)
            return call
        call.status = answer.status_code
        if answer.status_code != 200:
            call.words = answer.text
        elif handler["queue"]:
            await self._listen(call, handler, answer.json()["event_id"])
        else:
            call.ended = time.monotonic()
            self._show(handler, answer.json().get("data") or [])
        return call

    async def _listen(self, call: Call, handler: Mapping[str, Any], event: str) -> None:
        """Take the handler's messages until it ends, or sends none for _NO_ANSWER seconds."""
        self._expected.add(event)
        if self._stream is None or self._stream.done():
            self._stream = asyncio.create_task(self._receive())
        first: Any = None
        with suppress(TimeoutError):
            while call.ended is None:
                message = await asyncio.wait_for(self._inbox[event].get(), _NO_ANSWER)
                data = (message.get("output") or {}).get("data")
                if data:
                    first = changed(first, data[0])
                    call.messages.append((time.monotonic(), first))
                    self._show(handler, [first, *data[1:]])
                if message["msg"] == "process_completed":
                    call.ended = time.monotonic()
        self._expected.discard(event)
        self._inbox.pop(event, None)

    def _show(self, handler: Mapping[str, Any], data: list[Any]) -> None:
        """Give components their new values."""
        for one, value in zip(handler["outputs"], data, strict=False):
            if isinstance(value, dict) and value.get("__type__") == "update":
                self.props[one].update(value)
            elif not isinstance(value, list):
                self.props[one]["value"] = value

    async def _receive(self) -> None:
        """As long as messages are expected, read the stream and sort its messages by call."""
        while self._expected:
            address = f"{API}queue/data?session_hash={self._session}"
            with suppress(httpx.HTTPError):
                async with self._http.stream("GET", address, timeout=None) as stream:
                    async for line in stream.aiter_lines():
                        if line.startswith("data:"):
                            self._sort(json.loads(line[5:]))
            await asyncio.sleep(0.01)

    def _sort(self, message: dict[str, Any]) -> None:
        # a message may come before the answer from which `_call` learns the id of its event
        if event := message.get("event_id"):
            self._inbox[event].put_nowait(message)


def changed(before: Any, sent: Any) -> Any:
    """The value that replaces `before`. Gradio sends it whole, or as a list of changes. Changes to
    a part of the value are ignored."""
    if not isinstance(sent, list) or not all(isinstance(one, list) for one in sent):
        return sent
    for kind, path, value in sent:
        if not path:
            before = before + value if kind == "append" else value
    return before
