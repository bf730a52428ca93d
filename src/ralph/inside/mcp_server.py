"""Ralph's tools for agents that speak MCP, over stdin and stdout: every call goes to the loop."""

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from ralph import __version__
from ralph.inside.knock import Shut, ask
from ralph.inside.tools import TOOLS
from ralph.ports.calls import TOOL

Context = ServerRequestContext[Any]


async def _list(_: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    del params
    return types.ListToolsResult(
        tools=[
            types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema)
            for tool in TOOLS
        ]
    )


async def _call(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    args = {"name": params.name, "arguments": params.arguments or {}}
    try:
        answer = await anyio.to_thread.run_sync(ask, TOOL, args)
    except Shut as shut:
        return _said(str(shut), is_error=True)
    if answer.get("error"):
        told = (str(answer.get(key, "")) for key in ("message", "hint"))
        return _said("\n".join(filter(None, told)), is_error=True)
    return _said(json.dumps(answer.get("value"), ensure_ascii=False, indent=1), is_error=False)


def _said(text: str, *, is_error: bool) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=is_error)


def ralphs_server() -> Server[Any]:
    """Wherever it is served."""
    return Server("ralph", version=__version__, on_list_tools=_list, on_call_tool=_call)


async def _serve() -> None:
    server = ralphs_server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve() -> None:
    """Until the agent closes its end."""
    anyio.run(_serve)
