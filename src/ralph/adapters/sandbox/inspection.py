"""Describe the sandbox for `ralph sandbox show`, and test it for `ralph doctor`: try to escape from
it in every way that is possible here."""

import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.sandbox.checkout_sandbox import TRIES, ActiveSandbox
from ralph.adapters.sandbox.launch_commands import HERE, base_python
from ralph.adapters.sandbox.linux_sandboxes import NAMELESS, PRIVATE, Bubblewrap
from ralph.adapters.sandbox.resolved_paths import (
    files_started_by,
    is_its_own,
    protected_paths,
    resolve_rules,
)
from ralph.adapters.sandbox.session_files import usual_temp
from ralph.core.json_text import NOT_JSON
from ralph.core.sandbox_rules import (
    FOUND_FIRST,
    Access,
    IfMissing,
    PathRule,
    SandboxRules,
    outermost_first,
)
from ralph.ports.executor import Command, CommandOutput, CommandRunner


class PathDescription(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    access: Access
    why: str
    exists: bool


class BlockedProgramDescription(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    rule: str
    files: tuple[str, ...]
    """What cannot be started."""
    shared: tuple[str, ...]
    """What could not be blocked, since it does other things as well."""


class SandboxDescription(msgspec.Struct, frozen=True, kw_only=True):
    sandbox: str
    """What would be built; empty if nothing can be."""
    note: str
    """Why it is nothing, or not the best."""
    known_limits: tuple[str, ...]
    network: str
    domains: tuple[str, ...]
    places: tuple[PathDescription, ...]
    programs: tuple[BlockedProgramDescription, ...]
    sockets: tuple[str, ...]
    """Of other programs, closed."""
    dropped: tuple[str, ...]
    """Variables that do not go inside."""
    variables: dict[str, str]
    """Variables that are others inside."""


def describe_sandbox(
    rules: SandboxRules,
    environ: Mapping[str, str],
    *,
    sandbox: str,
    note: str,
    known_limits: tuple[str, ...],
    secrets: tuple[str, ...],
) -> SandboxDescription:
    """What holds now, on this machine. `secrets` are variables that sessions do not get anyway."""
    path = environ.get("PATH", os.defpath)
    return SandboxDescription(
        sandbox=sandbox,
        note=note,
        known_limits=known_limits,
        network=rules.network,
        domains=rules.domains,
        places=tuple(
            PathDescription(
                path=place.path,
                access=place.access,
                why=place.why,
                exists=place.planned or os.path.lexists(place.path),
            )
            for place in outermost_first((*rules.paths, *_own_folders(sandbox)))
            # What is hidden and does not exist is left out, as is what might be on the PATH.
            if place.planned
            or (place.if_missing is not IfMissing.SKIP and place.why != FOUND_FIRST)
            or os.path.lexists(place.path)
        ),
        programs=tuple(_program(one.name, one.rule, path) for one in rules.blocked),
        sockets=resolve_rules(rules, path).sockets,
        dropped=tuple(
            sorted(
                name
                for name in environ
                if name in secrets or any(fnmatchcase(name, one) for one in rules.dropped)
            )
        ),
        variables=dict(rules.env),
    )


def _own_folders(sandbox: str) -> Iterator[PathRule]:
    """What every session has of its own, and whose place it takes."""
    own = PRIVATE if sandbox == Bubblewrap.name else (os.path.join(usual_temp(), "…"),)
    why = "the session's own, gone afterwards"
    for path in own:
        yield PathRule(path=path, access=Access.WRITE, why=why, planned=path not in PRIVATE)


def _program(name: str, rule: str, path: str) -> BlockedProgramDescription:
    files = dict.fromkeys(os.path.realpath(hit) for hit in files_started_by(name, path))
    return BlockedProgramDescription(
        name=name,
        rule=rule,
        files=tuple(file for file in files if is_its_own(name, file)),
        shared=tuple(file for file in files if not is_its_own(name, file)),
    )


SOME: Final = 5
LONGEST: Final = 100
"""What the path of a socket may have."""


class SelfTestResult(msgspec.Struct, frozen=True, kw_only=True):
    tried: int = 0
    escaped: tuple[str, ...] = ()
    """What should have failed."""
    broken: tuple[str, ...] = ()
    """What should have worked."""


def run_self_test(
    checkout_sandbox: ActiveSandbox, executor: CommandRunner, env: Mapping[str, str]
) -> SelfTestResult:
    """Everything at once, in one command."""
    rules, name = checkout_sandbox.sandbox_rules, f".ralph-trial-{os.getpid()}"
    made = [os.path.join(folder, name) for folder in _folders(rules)]
    with _listening(rules.home, name) as sockets:
        orders = {
            **_orders(rules, env),
            "make": made,
            "sockets": sockets,
            # What is known to be open is said anyway.
            "abstract": "" if NAMELESS in checkout_sandbox.known_limits else name,
            "name": name,
        }
        script = os.path.join(HERE, "escape_attempts.py")
        argv = (*base_python(), script, msgspec.json.encode(orders).decode())
        got = _run_inside(checkout_sandbox, executor, Command(argv=argv, cwd=rules.top, env=env))
    for_real = [path for path in made if os.path.lexists(path)]
    for path in for_real:
        os.unlink(path)
    try:
        trial = msgspec.json.decode(got.stdout, type=SelfTestResult)
        words = tuple(f"make a file in {os.path.dirname(path)}" for path in for_real)
        return replace(trial, escaped=words + trial.escaped)
    except NOT_JSON:
        said = got.stderr.decode("utf-8", "replace").strip()[:200] or f"exit code {got.code}"
        return SelfTestResult(broken=(f"start anything: {said}",))


def _run_inside(
    checkout_sandbox: ActiveSandbox, executor: CommandRunner, command: Command
) -> CommandOutput:
    for tries_left in range(TRIES, 0, -1):
        with checkout_sandbox.sandboxed(command) as inside:
            got = executor.capture(inside.command, timeout_s=60.0)
        stderr = got.stderr.decode("utf-8", "replace")
        if tries_left == 1 or not checkout_sandbox.setup_error(got.code, stderr):
            return got
        # Something that was to be covered has gone away just now, so look again.
        resolve_rules.cache_clear()
    raise AssertionError


def _folders(rules: SandboxRules) -> list[str]:
    """Where nothing may be made, and could be without a sandbox."""
    around = (rules.home, os.path.dirname(rules.top), "/etc")
    return [
        path
        for path in (*protected_paths(rules), *around)
        if os.path.isdir(path) and _is_ours(path)
    ]


def _orders(rules: SandboxRules, env: Mapping[str, str]) -> dict[str, object]:
    resolved = resolve_rules(rules, env.get("PATH", os.defpath))
    hidden = [
        entry.path
        for entry in resolved.paths
        if entry.access is Access.HIDE and not entry.place.broad
    ]
    hidden += _unseen(rules)
    return {
        "write": [
            path for path in protected_paths(rules) if os.path.isfile(path) and _is_ours(path)
        ],
        # An empty one has nothing to hide.
        "read": [path for path in hidden if os.path.isfile(path) or os.listdir(path)],
        "start": list(resolved.blocked),
        "pid": os.getpid(),
        "work": [
            entry.path
            for entry in resolved.paths
            if entry.access is Access.WRITE and entry.is_folder
        ],
    }


def _unseen(rules: SandboxRules) -> list[str]:
    """Some files of the home that no session needs."""
    with os.scandir(rules.home) as entries:
        files = [
            entry.path for entry in entries if entry.is_file() and os.access(entry.path, os.R_OK)
        ]
    return [path for path in sorted(files) if rules.access_to(path) is Access.HIDE][:SOME]


def _is_ours(folder: str) -> bool:
    """Could be written without a sandbox: then it proves something that it cannot be with one."""
    return os.access(folder, os.W_OK)


@contextmanager
def _listening(home: str, name: str) -> Iterator[list[str]]:
    """Listen at sockets in the usual places."""
    with ExitStack() as stack:
        sockets = []
        for where in filter(_is_ours, dict.fromkeys((tempfile.gettempdir(), home, "/run"))):
            path = os.path.join(where, f"{name}.sock")
            if len(os.fsencode(path)) < LONGEST:
                _listen(stack, path)
                stack.callback(os.unlink, path)
                sockets.append(path)
        if sys.platform == "linux":
            _listen(stack, f"\0{name}")
        yield sockets


def _listen(stack: ExitStack, address: str) -> None:
    server = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    server.bind(address)
    server.listen(8)
