"""An MCP client calls the functions of the running app, with the app's own descriptions and
refusals."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp import Client
from running_app import App

from sequoia.errors import SequoiaError
from sequoia.mcp import server

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("plan", {"acceptance": [0.6, 0.2], "profile": "rtx-4090-qwen3-8b"}),
    ("expected_tokens", {"tree": [-1, 0, 9], "acceptance": [0.6]}),
]


def test_an_mcp_client_sees_and_calls_the_functions(app: App) -> None:
    made = server(app.url)

    async def called() -> tuple[list[Any], list[Any]]:
        async with Client(made) as client:
            listed = await client.list_tools()
            return listed.tools, [await client.call_tool(*one) for one in CALLS]

    with ThreadPoolExecutor(1) as thread:  # another test may have a loop in this one
        tools, (plan, refused) = thread.submit(lambda: asyncio.run(called())).result(60)
    assert {tool.name for tool in tools} >= {"plan", "expected_tokens", "verify", "decode"}
    assert all(tool.description for tool in tools)
    assert json.loads(plan.content[0].text)["nodes"] > 1
    assert "parents[2] = 9" in refused.content[0].text


def test_without_an_app_it_says_so() -> None:
    with pytest.raises(SequoiaError, match="no running app answers at http"):
        server("http://127.0.0.1:9/")
