"""macOS: a profile for `sandbox-exec`. Of two rules that fit, the later one counts."""

import os
import re
from collections.abc import Iterator, Sequence
from shutil import which
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox.launching import (
    filtering,
    launcher,
    shell,
    to_proxy,
    unstartable,
    whole_path,
)
from ralph.adapters.sandbox.terrain import Lot, folders_between, limits_for, survey, to_start
from ralph.core.ending import Exit
from ralph.core.fence import Access, Fence, Network, Place, is_inside, ordered
from ralph.ports.executor import Captures, Command
from ralph.ports.sandbox import Trouble

PROGRAM: Final = "/usr/bin/sandbox-exec"
SAYS: Final = "sandbox-exec: "
GAPS: Final = (
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
    stands_in = False
    shows_others = False
    gaps: Sequence[str] = GAPS

    def probe(self, executor: Captures) -> Trouble | None:
        """Start `true` under the simplest profile."""
        if which(PROGRAM) is None:
            return Trouble(reason=f"there is no {PROGRAM}", way_out="it is a part of macOS")
        argv = (PROGRAM, "-p", HEAD, "/usr/bin/true")
        got = executor.capture(argv, cwd="/", timeout_s=20.0)
        said = got.stderr.decode("utf-8", "replace").strip()[:200]
        return (
            None
            if got.code == 0
            else Trouble(
                reason=f"sandbox-exec cannot start: {said}", way_out="not inside another sandbox"
            )
        )

    def wrap(self, command: Command, fence: Fence) -> Command:
        """The same, under a profile that is written beside the session's temporary folder."""
        env = fence.environment(command.env)
        program = whole_path(command, env)
        if not program:
            return unstartable(command)
        ground = survey(fence, env.get("PATH", os.defpath))
        path = os.path.join(os.path.dirname(fence.temp), "profile.sb")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(profile(fence, ground.blocked, program))
        argv = (
            *shell(patient=True),
            *filtering(fence, command.env, fence.port),
            *(PROGRAM, "-f", path),
            *(part for name, value in parameters(fence) for part in ("-D", f"{name}={value}")),
            *launcher(fence.temp, limits=fence.limits),
            *command.argv,
        )
        temp = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), fence.temp)
        return replace(
            command,
            argv=argv,
            env={**env, **temp, **to_proxy(fence, fence.port)},
            limits=limits_for(fence, ground.lots),
        )

    def has_failed(self, exit_: Exit) -> str:
        """It says so itself."""
        said = exit_.stderr.strip()
        failed = exit_.stop is None and exit_.code in (65, 71) and said.startswith(SAYS)
        return said.splitlines()[0][:200] if failed else ""


def parameters(fence: Fence) -> tuple[tuple[str, str], ...]:
    """What the profile leaves open, longest first."""
    found = (
        ("PROJECT_DIR", os.path.realpath(fence.top)),
        ("ROOT_GIT_DIR", os.path.realpath(fence.git)),
        ("HOME", os.path.realpath(fence.home)),
    )
    return tuple(sorted(found, key=lambda one: -len(one[1])))


def profile(fence: Fence, blocked: Sequence[str], program: str) -> str:
    """The whole profile."""
    return HEAD + "".join(f"{line}\n" for line in _rules(fence, blocked, program))


def _rules(fence: Fence, blocked: Sequence[str], program: str) -> Iterator[str]:
    named = parameters(fence)
    hidden: list[str] = []
    # The system itself can be read: what macOS needs of it changes with every version.
    places = [place for place in ordered(map(_real, fence.places)) if not _is_system(place)]
    for place in (place for place in places if place.broad):
        yield from _rule(place, hidden, named)
        hidden.append(place.path)
    temporary = [_subpath(path, named) for path in (*TEMPORARY, *filter(None, (fence.temp,)))]
    state = _subpath(os.path.join(fence.home, STATE[2:]), named)
    yield f"(allow file-read* file-write* {' '.join(temporary)} {state})"
    yield f"(allow file-write* {' '.join(_literal(path, named) for path in DEVICES)})"
    for place in (place for place in places if not place.broad):
        yield from _rule(place, hidden, named)
        if place.access is Access.HIDE:
            hidden.append(place.path)
    shown = [place.path for place in places if place.access is not Access.HIDE]
    for folder in sorted({one for path in shown for one in _around(path, hidden)}):
        yield f"(allow file-read-metadata {_literal(folder, named)})"
    yield from _documents(fence)
    # Renamed away, a folder would take what is protected in it out of these rules.
    for folder in _holders(fence):
        yield f"(deny file-write-unlink {_literal(folder, named)})"
    lots = [
        Lot(path=place.path, access=place.access, is_folder=True, place=place) for place in places
    ]
    for path in to_start(program, lots):
        yield f"(allow file-read* {_subpath(path, named)})"
    for path in blocked:
        yield f"(deny process-exec* {_literal(path, named)})"
        yield f"(deny file-read* {_literal(path, named)})"
    yield from _network(fence, named)


def _is_system(place: Place) -> bool:
    return place.path == "/" and place.broad


def _around(path: str, hidden: Sequence[str]) -> Iterator[str]:
    """The hidden folders in which something visible lies: whoever goes there passes through."""
    folder = os.path.dirname(path)
    while any(is_inside(folder, one) for one in hidden):
        yield folder
        folder = os.path.dirname(folder)


def _rule(place: Place, hidden: list[str], named: Sequence[tuple[str, str]]) -> Iterator[str]:
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


def _documents(fence: Fence) -> Iterator[str]:
    """Most tools write a file by putting another one in its place, under a name that is longer."""
    desk = re.escape(os.path.realpath(fence.desk)) if fence.desk else '"'
    for name in fence.documents:
        pattern = rf"^{desk}/\.?{re.escape(name)}(\.[^/]*)?$"
        if '"' not in pattern:
            yield f'(allow file-write* (regex #"{pattern}"))'


def _real(place: Place) -> Place:
    return replace(place, path=os.path.realpath(place.path))


def _holders(fence: Fence) -> list[str]:
    """Writable folders in which something protected lies."""
    places = [_real(place) for place in fence.places]
    roots = {place.path for place in places if place.access is Access.WRITE}
    found: set[str] = set()
    for place in places:
        holders = folders_between(place.path, roots)
        root = os.path.dirname(holders[0] if holders else place.path)
        if place.access is not Access.WRITE and root in roots:
            found.update((root, *holders))
    return sorted(found)


def _network(fence: Fence, named: Sequence[tuple[str, str]]) -> Iterator[str]:
    # Whoever listens at a socket may do what a session may not, wherever it is made.
    yield '(deny network-outbound (subpath "/"))'
    yield f"(allow network-outbound {_subpath(os.path.realpath(fence.top), named)})"
    if fence.network is Network.ON:
        # Names are looked up there.
        yield '(allow network-outbound (literal "/private/var/run/mDNSResponder"))'
    else:
        yield "(deny network*)"
        yield '(allow network-bind network-inbound (local ip "localhost:*"))'
    if fence.network is Network.PROXY:
        yield f'(allow network-outbound (remote ip "localhost:{fence.port}"))'
    for path in (*fence.doors, *fence.sockets, *filter(None, (fence.temp,))):
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
