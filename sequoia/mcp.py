"""Offer a running app's functions to programs that speak MCP: `python -m sequoia.mcp ADDRESS`.

The app's own descriptions and arguments are passed on, so nothing is defined twice. Speaks through
standard input and output, as MCP clients expect. Needs the package `mcp` (tried with 2.3).
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from sequoia.bench.command import option_parser, reports_errors
from sequoia.errors import SequoiaError

_TYPES = {"number": float, "integer": int, "boolean": bool, "string": str, "array": list}


@reports_errors
def main(argv: Sequence[str] | None = None) -> None:
    parser = option_parser("python -m sequoia.mcp", __doc__)
    address = "http://127.0.0.1:7860/"
    parser.add_argument("address", nargs="?", default=address, help="address of the running app")
    server(parser.parse_args(argv).address).run()


def server(address: str) -> Any:
    """The MCP server for the app at `address`. Raises SequoiaError if the package `mcp` is missing,
    or no app answers there."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise SequoiaError("MCP needs the package mcp; install with pip install mcp") from None
    from gradio_client import Client

    try:
        client = Client(address, verbose=False)
    except Exception as problem:  # httpx's, and ValueError for what is no address
        raise SequoiaError(f"no running app answers at {address}: {problem}") from None
    found: Any = client.view_api(return_format="dict", print_info=False)
    made = MCPServer("Sequoia")
    for name, about in found["named_endpoints"].items():
        made.add_tool(_tool(client, name, about), name[1:], description=about.get("description"))
    return made


def _tool(client: Any, name: str, about: dict[str, Any]) -> Callable[..., str]:
    """A function with the arguments of the app's function `name`. It returns JSON."""

    from gradio_client.exceptions import AppError
    from mcp.server.mcpserver.exceptions import ToolError

    def call(**given: Any) -> str:
        try:
            return json.dumps(client.predict(**given, api_name=name))
        except AppError as problem:  # why the app refused it
            raise ToolError(str(problem)) from None

    parameters = [
        inspect.Parameter(
            one["parameter_name"],
            inspect.Parameter.KEYWORD_ONLY,
            default=one["parameter_default"] if one["parameter_has_default"] else inspect._empty,
            annotation=_TYPES.get(one["type"].get("type"), Any),
        )
        for one in about["parameters"]
    ]
    call.__signature__ = inspect.Signature(parameters, return_annotation=str)  # pyright: ignore
    return call


if __name__ == "__main__":
    sys.exit(main())
