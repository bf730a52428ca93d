"""Serve Ralph's tools to the agent of a session, over MCP on stdin and stdout.

Sessions get it by themselves where their agent can take it (`[agent] mcp`). It works only inside of
a session: every call is answered by the loop that started it. Needs the extra `mcp`:
pip install 'ralph[mcp]'.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph mcp
"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(args: Namespace) -> int:
    import os

    from ralph.core.errors import Missing, Unavailable
    from ralph.inside.knock import Shut, way_in

    del args
    try:
        way_in(os.environ)
    except Shut as shut:
        raise Missing(str(shut), hint="`ralph run` starts sessions") from shut
    try:
        from ralph.inside.mcp_server import serve
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{error.name} is not installed", hint="pip install 'ralph[mcp]'"
        ) from error
    serve()
    return 0
