"""How a command is started in its sandbox: the launcher, and a filter of system calls."""

import json
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from shutil import which
from typing import Final, NamedTuple

from msgspec.structs import replace

from ralph.adapters.sandbox.launcher import STARTED_FD
from ralph.adapters.sandbox.resolved_paths import ResolvedRules, resolve_rules
from ralph.core.resource_limits import ResourceLimits
from ralph.core.sandbox_rules import Access, NetworkAccess, SandboxRules
from ralph.files import replace_file
from ralph.ports.executor import Command, CommandRunner


class SyscallNumbers(NamedTuple):
    """One way to call the kernel."""

    architecture: int
    add_key: int
    request_key: int
    keyctl: int
    socket: int
    shmget: int
    fcntl: tuple[int, ...]
    modes: tuple[tuple[int, int], ...]
    """Calls that give a file its permissions, and in which argument: chmod, creat, mknod…"""
    opens: tuple[tuple[int, int], ...]
    """Calls that may make a file, and in which argument they say so; its permissions follow."""
    others: tuple[int, ...] = ()
    """Calls for many things, in which a socket or shared memory could be made unseen."""
    limit: int = 0
    """Calls from here on are those of yet another way."""


MACHINES: Final = {
    "x86_64": (
        SyscallNumbers(
            architecture=0xC000003E, add_key=248, request_key=249, keyctl=250, socket=41, shmget=29,
            fcntl=(72,), modes=((90, 1), (91, 1), (268, 2), (85, 1), (133, 1), (259, 2)),
            opens=((2, 1), (257, 2)), limit=0x40000000,
        ),
        SyscallNumbers(
            architecture=0x40000003, add_key=286, request_key=287, keyctl=288, socket=359,
            shmget=395, fcntl=(55, 221),
            modes=((15, 1), (94, 1), (306, 2), (8, 1), (14, 1), (297, 2)),
            opens=((5, 1), (295, 2)), others=(102, 117),
        ),
    ),
    "aarch64": (
        SyscallNumbers(
            architecture=0xC00000B7, add_key=217, request_key=218, keyctl=219, socket=198,
            shmget=194, fcntl=(25,), modes=((52, 1), (53, 2), (33, 2)), opens=((56, 2),),
        ),
        SyscallNumbers(
            architecture=0x40000028, add_key=309, request_key=310, keyctl=311, socket=281,
            shmget=307, fcntl=(55, 221),
            modes=((15, 1), (94, 1), (333, 2), (8, 1), (14, 1), (324, 2)),
            opens=((5, 1), (322, 2)), others=(102, 117),
        ),
    ),
}  # fmt: skip
"""A machine's own way, and that of its older programs."""
REQUEST_RINGS: Final = (425, 426, 427)
OPEN_BY_RECORD: Final = 437
"""Its argument is in memory, where a filter cannot look; programs that use it know another way."""
CHANGE_MODE_TOO: Final = (452, 2)
"""These are the same on every machine."""
INTERNET: Final = (2, 10)
TO_THE_HOST: Final = 40
KIND: Final = 0xF
STREAM: Final = 1
PLAIN_TCP: Final = (0, 6)
MOST_SHARED: Final = 1 << 16
"""Bytes of a segment of shared memory: when no process uses one it is seen nowhere. Programs that
need more of it use files; a namespace has room for 4096 segments."""
TAKE_LEASE: Final = 1024
"""A process that opens a file on which another one has a lease waits for it, up to 45 s."""
RUNS_AS_OWNER: Final = 0o4000
MAKES: Final = 0o20000100
"""Of what is said when a file is opened: make it; make it without a name."""
NUMBER, ARCHITECTURE, FIRST, SECOND, THIRD = 0, 4, 16, 24, 32
"""Where the kernel puts what was asked for; of an argument the lower half."""
LOAD, MASK, RETURN = 0x20, 0x54, 0x06
IS, IS_AT_LEAST, HAS = 0x15, 0x35, 0x45
ALLOW: Final = 0x7FFF0000
NO_SUCH_CALL, NO_SUCH_FAMILY, NOT_ALLOWED = 0x00050000 | 38, 0x00050000 | 97, 0x00050000 | 1
NO_MEMORY: Final = 0x00050000 | 12
Step = tuple[int, int, int, int]


@cache
def filter_program(machine: str = "", *, only_tcp: bool = False) -> bytes:
    """The filter, as the kernel reads it; empty for a machine that we do not know.

    `only_tcp`: of the internet's sockets none but those that Landlock sees.
    """
    steps: list[Step] = []
    for way in MACHINES.get(machine or platform.machine(), ()):
        block = list(_block(way, only_tcp=only_tcp))
        steps += [(IS, 0, len(block), way.architecture), *block]
    if not steps:
        return b""
    steps = [(LOAD, 0, 0, ARCHITECTURE), *steps, (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _block(way: SyscallNumbers, *, only_tcp: bool) -> Iterator[Step]:
    yield (LOAD, 0, 0, NUMBER)
    if way.limit:
        yield from _refuse(IS_AT_LEAST, way.limit, NO_SUCH_CALL)
    for number in (
        *(way.add_key, way.request_key, way.keyctl),
        *(*REQUEST_RINGS, OPEN_BY_RECORD, *way.others),
    ):
        yield from _refuse(IS, number, NO_SUCH_CALL)
    for number, argument in (*way.modes, CHANGE_MODE_TOO):
        yield from _only(number, _mode(argument))
    for number, argument in way.opens:
        mode = [*_mode(argument + 1)]
        makes = [(LOAD, 0, 0, FIRST + 8 * argument), (HAS, 0, len(mode), MAKES), *mode]
        yield from _only(number, makes)
    family = [(LOAD, 0, 0, FIRST), *_refuse(IS, TO_THE_HOST, NO_SUCH_FAMILY)]
    if only_tcp:
        tcp = list(_tcp())
        family += [(IS, 1, 0, INTERNET[0]), (IS, 0, len(tcp), INTERNET[1]), *tcp]
    yield from _only(way.socket, family)
    high, low = (LOAD, 0, 0, SECOND + 4), (LOAD, 0, 0, SECOND)
    large = (*_refuse(IS_AT_LEAST, 1, NO_MEMORY), low)
    yield from _only(way.shmget, [high, *large, *_refuse(IS_AT_LEAST, MOST_SHARED + 1, NO_MEMORY)])
    for number in way.fcntl:
        yield from _only(number, [(LOAD, 0, 0, SECOND), *_refuse(IS, TAKE_LEASE, NOT_ALLOWED)])
    yield (RETURN, 0, 0, ALLOW)


def _only(number: int, steps: Iterable[Step]) -> Iterator[Step]:
    """Steps for one call, at the end of which it is allowed."""
    block = [*steps, (RETURN, 0, 0, ALLOW)]
    yield (IS, 0, len(block), number)
    yield from block


def _mode(argument: int) -> Iterator[Step]:
    yield (LOAD, 0, 0, FIRST + 8 * argument)
    yield from _refuse(HAS, RUNS_AS_OWNER, NOT_ALLOWED)


def _tcp() -> Iterator[Step]:
    yield from ((LOAD, 0, 0, SECOND), (MASK, 0, 0, KIND), (IS, 0, 3, STREAM))
    yield from ((LOAD, 0, 0, THIRD), (IS, 2, 0, PLAIN_TCP[0]), (IS, 1, 0, PLAIN_TCP[1]))
    yield (RETURN, 0, 0, NO_SUCH_FAMILY)
    yield (RETURN, 0, 0, ALLOW)


def _refuse(test: int, value: int, answer: int) -> Iterator[Step]:
    yield (test, 0, 1, value)
    yield (RETURN, 0, 0, answer)


def write_filter(folder: str, *, only_tcp: bool = False) -> bool:
    """Write the filter into a file there, unless this is a machine that we do not know."""
    data = filter_program(only_tcp=only_tcp)
    path = os.path.join(folder, CALLS)
    if data and not os.path.exists(path):
        replace_file(path, data, sync=False)
    return bool(data)


HERE: Final = os.path.dirname(os.path.abspath(__file__))
CALLS: Final = "calls"
"""In the folder of a command: the filter."""
STARTED: Final = "started"
"""Beside it: has content as soon as the sandbox is set up. Only the launcher gets it, as an open
file: a command may empty its temporary folder."""
FORWARD_PORT: Final = 3128
"""Where the way to the proxy begins, inside the private network."""
IGNORE_SIGNALS: Final = 'trap "" INT TERM HUP; '
"""These signals are meant for the agent: a sandbox that obeyed them would end first, and end the
agent before its final message. The launcher inside obeys them again."""
CALLS_FD: Final = 9
NO_LIMITS: Final = ResourceLimits()
PROXIES: Final = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy"),
)


def outer_shell(
    rules: SandboxRules, *, patient: bool = True, calls: bool = False
) -> tuple[str, ...]:
    """Around everything: it ignores signals, and opens files in the folder of the command."""
    if not (patient or calls):
        return ()
    opened = f' {CALLS_FD}<"$0/{CALLS}"' if calls else ""
    opened += f' {STARTED_FD}>"$0/{STARTED}"' if patient else ""
    script = f'{IGNORE_SIGNALS if patient else ""}exec "$@"{opened}'
    return ("/bin/sh", "-c", script, os.path.dirname(rules.temp))


@cache
def base_python() -> tuple[str, ...]:
    """The interpreter behind every virtual environment, without anything of its user's."""
    return (os.path.realpath(sys.executable), "-I", "-S")


def launcher_command(*orders: str, limits: ResourceLimits = NO_LIMITS) -> tuple[str, ...]:
    """The script that obeys signals again, sets limits, and becomes the command."""
    numbers = {"files": limits.open_files, "processes": limits.processes, "size": limits.disk}
    more = [f"{name}={number}" for name, number in numbers.items() if number]
    return (*base_python(), os.path.join(HERE, "launcher.py"), *more, *orders, "--")


def proxy_command(
    rules: SandboxRules, env: Mapping[str, str], listen: "str | int"
) -> tuple[str, ...]:
    """Outside: lets listed domains through."""
    upstream = next((env[name] for name in PROXIES if env.get(name)), "")
    return _proxy(rules, listen=listen, domains=rules.domains, upstream=upstream)


def forward_command(rules: SandboxRules) -> tuple[str, ...]:
    """Inside, without a network: the way to the proxy."""
    return _proxy(rules, listen=FORWARD_PORT, to=rules.proxy)


def _proxy(rules: SandboxRules, **orders: object) -> tuple[str, ...]:
    if rules.network is not NetworkAccess.PROXY:
        return ()
    return (*base_python(), os.path.join(HERE, "domain_proxy.py"), json.dumps(orders), "--")


def wrap_command(
    command: Command,
    rules: SandboxRules,
    start: Callable[[Command, SandboxRules, ResolvedRules, str], tuple[str, ...]],
    *,
    temp: str,
    port: int,
    written: Sequence[str] = (),
) -> Command:
    """The command in a sandbox: `start` returns what to run, from the resolved rules and the file
    of the program. Inside, temporary files are in `temp` and the proxy is at `port`; `written`:
    further folders in which it can write."""
    env = inside_environment(command.env, rules, temp=temp, port=port)
    program = _program_file(command, env)
    if not program:
        # The executor reports it better than a sandbox could. The PATH is empty, since the program
        # may have been installed in the meantime.
        return replace(command, argv=command.argv[:1], env={"PATH": "/nowhere"})
    resolved = resolve_rules(rules, env.get("PATH", os.defpath))
    limits = rules.limits
    if limits != NO_LIMITS:
        folders = [
            entry.path
            for entry in resolved.paths
            if entry.access is Access.WRITE and entry.is_folder
        ]
        folders += filter(None, (rules.temp, *written))
        limits = replace(limits, folders=tuple(folders))
    return replace(command, argv=start(command, rules, resolved, program), env=env, limits=limits)


def inside_environment(
    env: Mapping[str, str], rules: SandboxRules, *, temp: str, port: int
) -> dict[str, str]:
    """What a command finds inside."""
    found = rules.environment(env) | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temp)
    if rules.network is NetworkAccess.PROXY:
        found |= dict.fromkeys(PROXIES, f"http://127.0.0.1:{port}") | {"NODE_USE_ENV_PROXY": "1"}
        found |= dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    return found


def server_command() -> tuple[str, ...]:
    """The script that runs commands, one after the other."""
    return (*base_python(), os.path.join(HERE, "command_server.py"))


def start_error(executor: CommandRunner, *argv: str) -> str:
    """What a short command printed if it failed; empty if it works."""
    command = Command(argv=argv, cwd="/", env=os.environ)
    got = executor.capture(command, timeout_s=20.0)
    said = got.stderr.decode("utf-8", "replace").strip()[:200] or f"exit code {got.code}"
    return said if got.code else ""


def error_line(stderr: str, prefix: str) -> str:
    """The first line, if it begins like this."""
    said = stderr.strip()
    return said.splitlines()[0][:200] if said.startswith(prefix) else ""


def _program_file(command: Command, env: Mapping[str, str]) -> str:
    """The program's file; empty if there is none that can be started."""
    program = command.argv[0] if command.argv else ""
    if os.sep in program:
        path = os.path.normpath(os.path.join(command.cwd, program))
        return path if os.path.isfile(path) and os.access(path, os.X_OK) else ""
    return which(program, path=env.get("PATH", os.defpath)) or "" if program else ""
