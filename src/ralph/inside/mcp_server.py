"""Ralph's tools for agents that speak MCP, over stdin and stdout. Every call goes to the run."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from ralph import __version__
from ralph.inside.session_calls import TOOL_METHOD
from ralph.inside.session_tools import TOOLS
from ralph.inside.socket_client import SocketUnavailable, call_run

Context = ServerRequestContext[Any]


async def ask_run(method: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Call the run from a thread; a socket that does not answer is an error answer."""
    try:
        return await anyio.to_thread.run_sync(call_run, method, args)
    except SocketUnavailable as error:
        return {"error": type(error).__name__, "message": str(error)}


async def _list(_: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    del params
    return types.ListToolsResult(
        tools=[
            types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema)
            for tool in TOOLS.values()
        ]
    )


async def _call(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    args = {"name": params.name, "arguments": params.arguments or {}}
    answer = await ask_run(TOOL_METHOD, args)
    if answer.get("error"):
        texts = (str(answer.get(key, "")) for key in ("message", "hint"))
        return _text_result("\n".join(filter(None, texts)), is_error=True)
    return _text_result(
        json.dumps(answer.get("value"), ensure_ascii=False, indent=1), is_error=False
    )


def _text_result(text: str, *, is_error: bool) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=is_error)


def ralphs_server() -> Server[Any]:
    return Server("ralph", version=__version__, on_list_tools=_list, on_call_tool=_call)


async def _serve() -> None:
    server = ralphs_server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve() -> None:
    anyio.run(_serve)
