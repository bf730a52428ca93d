"""The little programs around a command: what they are told, and what needs no wall since it cannot
start."""

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from shutil import which
from typing import Final

from msgspec.structs import replace

from ralph.core.fence import Fence, Network, is_inside
from ralph.core.resources import Resources
from ralph.ports.executor import Command

HERE: Final = os.path.dirname(os.path.abspath(__file__))
STARTED: Final = ".started"
"""A file in the temporary folder, made when the wall stands."""
FORWARD_PORT: Final = 3128
"""Where the way to the proxy begins, behind a network that is nobody else's."""
PATIENT: Final = 'trap "" INT TERM HUP; '
"""A polite stop is meant for the agent: a wall that heeds it falls first, and takes the agent with
it before that has said its last word. The launcher inside hears signals again."""
CALLS_FD: Final = 9
NO_LIMITS: Final = Resources()
PROXIES: Final = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
)


def shell(*, patient: bool, calls: str = "") -> tuple[str, ...]:
    """Around everything: deaf to signals, with the filter of system calls as an open file."""
    if not (patient or calls):
        return ()
    opened = f' {CALLS_FD}<"$0"' if calls else ""
    return ("/bin/sh", "-c", f'{PATIENT if patient else ""}exec "$@"{opened}', calls or "sh")


@cache
def python() -> tuple[str, ...]:
    """The interpreter behind every virtual environment, without anything of its user's."""
    return (os.path.realpath(sys.executable), "-I", "-S")


def launcher(temp: str, *orders: str, limits: Resources = NO_LIMITS) -> tuple[str, ...]:
    """Hears signals again, ties the last knots, and becomes the command."""
    started = f"started={os.path.join(temp, STARTED)}"
    numbers = {"files": limits.open_files, "processes": limits.processes, "size": limits.disk}
    more = [f"{name}={number}" for name, number in numbers.items() if number]
    return (*python(), os.path.join(HERE, "launcher.py"), started, *more, *orders, "--")


def filtering(fence: Fence, env: Mapping[str, str], listen: "str | int") -> tuple[str, ...]:
    """Outside: lets listed domains through."""
    if fence.network is not Network.PROXY:
        return ()
    upstream = next((env[name] for name in PROXIES if env.get(name)), "")
    orders = {"listen": listen, "domains": fence.domains, "upstream": upstream}
    return (*python(), os.path.join(HERE, "proxy.py"), json.dumps(orders), "--")


def forwarding(fence: Fence) -> tuple[str, ...]:
    """Inside, without a network: the way to the proxy."""
    if fence.network is not Network.PROXY:
        return ()
    orders = {"listen": FORWARD_PORT, "to": fence.proxy}
    return (*python(), os.path.join(HERE, "proxy.py"), json.dumps(orders), "--")


def to_proxy(fence: Fence, port: int) -> dict[str, str]:
    """Variables by which programs find it."""
    if fence.network is not Network.PROXY:
        return {}
    here = dict.fromkeys(PROXIES, f"http://127.0.0.1:{port}")
    near = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    return {**here, **near, "NODE_USE_ENV_PROXY": "1"}


def whole_path(command: Command, env: Mapping[str, str]) -> str:
    """The program's file; empty if there is none that can be started."""
    program = command.argv[0] if command.argv else ""
    if os.sep in program:
        path = os.path.normpath(os.path.join(command.cwd, program))
        return path if os.path.isfile(path) and os.access(path, os.X_OK) else ""
    return which(program, path=env.get("PATH", os.defpath)) or "" if program else ""


def unstartable(command: Command) -> Command:
    """It fails in the executor's own words; no wall could put them so well."""
    program = command.argv[:1]
    # Found after all, in the blink of an eye since we looked? Not by this path.
    return replace(command, argv=program, env={"PATH": "/nowhere"})


def part_of(path: str, hidden: str) -> str:
    """What must be shown of a hidden folder, so that a program in it can be started."""
    if not is_inside(path, hidden) or path == hidden:
        return path
    return os.path.join(hidden, os.path.relpath(path, hidden).split(os.sep)[0])
