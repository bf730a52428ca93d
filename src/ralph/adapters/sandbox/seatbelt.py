"""macOS: a sandbox profile for `sandbox-exec`. Of two matching rules, the later one wins."""

import os
import re
from collections.abc import Iterator, Sequence
from shutil import which
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox import launch_commands
from ralph.adapters.sandbox.resolved_paths import (
    ResolvedPath,
    ResolvedRules,
    folders_between,
    to_start,
)
from ralph.core.sandbox_rules import (
    Access,
    NetworkAccess,
    PathRule,
    SandboxRules,
    is_inside,
    outermost_first,
)
from ralph.ports.executor import Command, CommandRunner
from ralph.ports.sandbox import SandboxProblem

PROGRAM: Final = "/usr/bin/sandbox-exec"
SAYS: Final = "sandbox-exec: "
KNOWN_LIMITS: Final = (
    "other processes can be seen",
    "sockets of other programs in the checkout can be reached",
    "an agent whose login is in the key chain works in your own folder of it",
)
TEMPORARY: Final = ("/tmp", "/private/tmp", "/var/folders", "/private/var/folders")
STATE: Final = "~/.local/state"
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper")
HEAD: Final = """\
(version 1)
(allow default)
; Keystrokes and clicks in other programs.
(deny mach-lookup (global-name "com.apple.systemevents"))
(deny file-write*)
"""


class Seatbelt:
    """A `Sandbox`. The profile is a file in the session's own folder, and goes with it."""

    name = "sandbox-exec"
    is_fallback = False
    can_replace_folders = False
    known_limits: Sequence[str] = KNOWN_LIMITS

    def probe(self, executor: CommandRunner) -> SandboxProblem | None:
        if which(PROGRAM) is None:
            return SandboxProblem(reason=f"there is no {PROGRAM}", way_out="it is a part of macOS")
        error = launch_commands.start_error(executor, PROGRAM, "-p", HEAD, "/usr/bin/true")
        reason = f"sandbox-exec cannot start: {error}"
        way_out = "not inside another sandbox"
        return SandboxProblem(reason=reason, way_out=way_out) if error else None

    def wrap(self, command: Command, rules: SandboxRules) -> Command:
        temp, port = rules.temp, rules.port
        return launch_commands.wrap_command(command, rules, self._start, temp=temp, port=port)

    def _start(
        self, command: Command, rules: SandboxRules, resolved: ResolvedRules, program: str
    ) -> tuple[str, ...]:
        path = os.path.join(os.path.dirname(rules.temp), "profile.sb")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(profile(rules, resolved.blocked, program))
        named = (f"{name}={value}" for name, value in parameters(rules))
        return (
            *launch_commands.outer_shell(rules),
            *launch_commands.proxy_command(rules, command.env, rules.port),
            *(PROGRAM, "-f", path),
            *(part for setting in named for part in ("-D", setting)),
            *launch_commands.launcher_command(limits=rules.limits),
            *command.argv,
        )

    def setup_error(self, code: int | None, stderr: str) -> str:
        return launch_commands.error_line(stderr, SAYS) if code in (65, 71) else ""


def parameters(rules: SandboxRules) -> tuple[tuple[str, str], ...]:
    """What the profile leaves open, longest first."""
    found = (
        ("PROJECT_DIR", os.path.realpath(rules.top)),
        ("ROOT_GIT_DIR", os.path.realpath(rules.git)),
        ("HOME", os.path.realpath(rules.home)),
    )
    return tuple(sorted(found, key=lambda one: -len(one[1])))


def profile(rules: SandboxRules, blocked: Sequence[str], program: str) -> str:
    return HEAD + "".join(f"{line}\n" for line in _rules(rules, blocked, program))


def _rules(rules: SandboxRules, blocked: Sequence[str], program: str) -> Iterator[str]:
    named = parameters(rules)
    hidden: list[str] = []
    # The system itself can be read: what macOS needs of it changes with every version.
    real = outermost_first(map(_real, rules.paths))
    places = [place for place in real if not (place.path == "/" and place.broad)]
    for place in (place for place in places if place.broad):
        yield from _rule(place, hidden, named)
        hidden.append(place.path)
    temporary = [_subpath(path, named) for path in (*TEMPORARY, *filter(None, (rules.temp,)))]
    state = _subpath(os.path.join(rules.home, STATE[2:]), named)
    yield f"(allow file-read* file-write* {' '.join(temporary)} {state})"
    yield f"(allow file-write* {' '.join(_literal(path, named) for path in DEVICES)})"
    for place in (place for place in places if not place.broad):
        yield from _rule(place, hidden, named)
        if place.access is Access.HIDE:
            hidden.append(place.path)
    shown = [place.path for place in places if place.access is not Access.HIDE]
    for folder in sorted({one for path in shown for one in _around(path, hidden)}):
        yield f"(allow file-read-metadata {_literal(folder, named)})"
    yield from _documents(rules)
    # Renamed away, a folder would take what is protected in it out of these rules.
    for folder in _holders(rules):
        yield f"(deny file-write-unlink {_literal(folder, named)})"
    lots = [
        ResolvedPath(path=place.path, access=place.access, is_folder=True, place=place)
        for place in places
    ]
    for path in to_start(program, lots):
        yield f"(allow file-read* {_subpath(path, named)})"
    for path in blocked:
        yield f"(deny process-exec* {_literal(path, named)})"
        yield f"(deny file-read* {_literal(path, named)})"
    yield from _network(rules, named)


def _around(path: str, hidden: Sequence[str]) -> Iterator[str]:
    """The hidden folders on the way to something visible."""
    folder = os.path.dirname(path)
    while any(is_inside(folder, one) for one in hidden):
        yield folder
        folder = os.path.dirname(folder)


def _rule(place: PathRule, hidden: list[str], named: Sequence[tuple[str, str]]) -> Iterator[str]:
    where = _subpath(place.path, named)
    is_hidden = any(is_inside(place.path, folder) for folder in hidden)
    match place.access:
        case Access.WRITE:
            yield f"(allow file-write* {where})"
            if is_hidden:
                yield f"(allow file-read* {where})"
        case Access.READ:
            yield f"(deny file-write* {where})"
            if is_hidden:
                yield f"(allow file-read* {where})"
        case Access.HIDE:
            yield f"(deny file-read* file-write* {where})"


def _documents(rules: SandboxRules) -> Iterator[str]:
    """Most tools write a file by putting another one in its place, under a name that is longer."""
    folder = re.escape(os.path.realpath(rules.session_folder)) if rules.session_folder else '"'
    for name in rules.documents:
        pattern = rf"^{folder}/\.?{re.escape(name)}(\.[^/]*)?$"
        if '"' not in pattern:
            yield f'(allow file-write* (regex #"{pattern}"))'


def _real(place: PathRule) -> PathRule:
    return replace(place, path=os.path.realpath(place.path))


def _holders(rules: SandboxRules) -> list[str]:
    """Writable folders in which something protected lies."""
    places = [_real(place) for place in rules.paths]
    roots = {place.path for place in places if place.access is Access.WRITE}
    found: set[str] = set()
    for place in places:
        holders = folders_between(place.path, roots)
        root = os.path.dirname(holders[0] if holders else place.path)
        if place.access is not Access.WRITE and root in roots:
            found.update((root, *holders))
    return sorted(found)


def _network(rules: SandboxRules, named: Sequence[tuple[str, str]]) -> Iterator[str]:
    # A process that listens at a socket may do what a session may not, wherever the socket is.
    yield '(deny network-outbound (subpath "/"))'
    yield f"(allow network-outbound {_subpath(os.path.realpath(rules.top), named)})"
    if rules.network is NetworkAccess.ON:
        # Names are looked up there.
        yield '(allow network-outbound (literal "/private/var/run/mDNSResponder"))'
    else:
        yield "(deny network*)"
        yield '(allow network-bind network-inbound (local ip "localhost:*"))'
    if rules.network is NetworkAccess.PROXY:
        yield f'(allow network-outbound (remote ip "localhost:{rules.port}"))'
    for path in (*rules.ralph_sockets, *rules.sockets, *filter(None, (rules.temp,))):
        yield f"(allow network-outbound {_subpath(os.path.realpath(path), named)})"


def _subpath(path: str, named: Sequence[tuple[str, str]]) -> str:
    return f"(subpath {_text(path, named)})"


def _literal(path: str, named: Sequence[tuple[str, str]]) -> str:
    return f"(literal {_text(path, named)})"


def _text(path: str, named: Sequence[tuple[str, str]]) -> str:
    """A path, by the parameter in which it lies."""
    for name, value in named:
        if path == value:
            return f'(param "{name}")'
        if value != "/" and is_inside(path, value):
            return f'(string-append (param "{name}") {_quoted(path[len(value) :])})'
    return _quoted(path)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
