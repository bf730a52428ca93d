"""Which screen fits the place that the output goes to."""

import os
from collections.abc import Mapping
from typing import TextIO

from ralph.ports.clock import Clock
from ralph.ports.sink import Sink
from ralph.ui.board import Board


def screen_for(
    stdout: TextIO,
    *,
    clock: Clock,
    board: Board | None = None,
    json: bool = False,
    color: str = "auto",
    env: Mapping[str, str] | None = None,
) -> Sink:
    """JSON lines when asked for, the live view on a terminal that can, else plain lines.

    `color` is `auto`, `always` or `never`; only the live view has any.
    """
    if json:
        from ralph.ui.jsonl import JsonLines

        return JsonLines(stdout)
    if not can_redraw(stdout, os.environ if env is None else env):
        from ralph.ui.plain import Plain

        return Plain(stdout, clock, board)
    from ralph.ui.live import Live

    wanted = {"always": True, "never": False}.get(color)
    return Live(stdout, clock, board, color=wanted)


def can_redraw(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Is it a terminal with a cursor that moves, and with more than ASCII?"""
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return stream.isatty() and encoding == "utf8" and env.get("TERM", "") not in ("", "dumb")
