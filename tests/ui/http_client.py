"""Calls the handlers of a running app over HTTP, as its page in a browser does."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import httpx


class Client:
    """A visitor of the app at `url`."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=30, trust_env=False)
        self.session = secrets.token_hex(6)
        self.config: dict[str, Any] = self.http.get("config").json()
        self._values = {one["id"]: one["props"].get("value") for one in self.config["components"]}
        self._names = {one["id"]: one["props"].get("elem_id") for one in self.config["components"]}

    def handler(self, name: str) -> dict[str, Any]:
        """The page's description of the handler called `name`."""
        return next(one for one in self.config["dependencies"] if one["api_name"] == name)

    def body(self, name: str, **fields: Any) -> dict[str, Any]:
        """The request that runs a handler with the page's initial values. `fields` replaces some of
        these values. Its keys are the components' elem_ids, with _ in place of -."""
        values = {key.replace("_", "-"): value for key, value in fields.items()}
        handler = self.handler(name)
        data = [values.get(self._names[one], self._values[one]) for one in handler["inputs"]]
        return {"fn_index": handler["id"], "data": data, "session_hash": self.session}

    def join(self, name: str, **fields: Any) -> httpx.Response:
        """Queue a handler."""
        return self.http.post("gradio_api/queue/join", json=self.body(name, **fields))

    def events(self) -> Iterator[dict[str, Any]]:
        """What the server sends about this visitor's handlers, until all have ended."""
        address = f"gradio_api/queue/data?session_hash={self.session}"
        with self.http.stream("GET", address) as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])
