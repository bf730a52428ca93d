"""Linux without user namespaces: Landlock alone. Weaker, and it says so."""

import os
import platform
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox.belongings import a_folder
from ralph.adapters.sandbox.calls import written
from ralph.adapters.sandbox.launcher import KNOWS_UNIX_SOCKETS, version
from ralph.adapters.sandbox.launching import (
    filtering,
    launcher,
    shell,
    to_proxy,
    unstartable,
    whole_path,
)
from ralph.adapters.sandbox.terrain import limits_for, survey, to_start
from ralph.core.ending import Exit
from ralph.core.fence import Access, Fence, Network
from ralph.ports.executor import Captures, Command
from ralph.ports.sandbox import Trouble

GAPS: Final = (
    "what judges can be changed: .ralph.toml, .ralph/ (what git runs is put back afterwards)",
    "other processes can be seen",
    "a command that goes on in the background, away from its group, can outrun its limits",
    "whether a hidden file exists, and the names beside /etc/shadow, can be found out",
    "permissions and times of your files outside can be changed",
)
SOCKETS: Final = "sockets of other programs can be reached"
NO_NETWORK: Final = "connections, whatever [sandbox] network says: this kernel is too old for that"
KNOWS_NETWORKS: Final = 4
SHARED_MEMORY: Final = "/dev/shm"
SAYS: Final = "ralph: Landlock"


class Landlock:
    """A `Sandbox`."""

    name = "landlock"
    stands_in = True
    shows_others = False

    def __init__(self) -> None:
        known = version()
        self.gaps: Sequence[str] = (
            *GAPS,
            *(() if known >= KNOWS_UNIX_SOCKETS else (SOCKETS,)),
            *(() if known >= KNOWS_NETWORKS else (NO_NETWORK,)),
        )

    def probe(self, executor: Captures) -> Trouble | None:
        """Close everything around `true`."""
        with a_folder() as folder:
            argv = (*launcher(folder, "alone=1", "read=/"), "/bin/true")
            got = executor.capture(argv, cwd="/", timeout_s=20.0)
        if got.code == 0:
            return None
        return Trouble(
            reason=f"Landlock cannot start: {got.stderr.decode('utf-8', 'replace').strip()[:200]}",
            way_out=f"use a kernel with Landlock (this is {platform.release()}), or bubblewrap",
        )

    def wrap(self, command: Command, fence: Fence) -> Command:
        """The same, behind rules that the kernel keeps."""
        env = fence.environment(command.env)
        program = whole_path(command, env)
        if not program:
            return unstartable(command)
        ground = survey(fence, env.get("PATH", os.defpath))
        hidden = [lot.path for lot in ground.lots if lot.access is Access.HIDE]
        write = [lot.path for lot in ground.lots if lot.access is Access.WRITE]
        read = [lot.path for lot in ground.lots if lot.access is Access.READ]
        read += to_start(program, ground.lots)
        is_closed = fence.network is not Network.ON
        calls = written(os.path.dirname(fence.temp), only_tcp=is_closed)
        orders = (
            *("alone=1", "dies=1"),
            *((f"calls={calls}",) if calls else ()),
            *(f"write={path}" for path in (*write, fence.temp)),
            *(f"read={path}" for path in read),
            *(f"socket={os.path.realpath(path)}" for path in (*fence.doors, *fence.sockets)),
            *(f"hide={path}" for path in (*hidden, *ground.blocked)),
            *(("closed=1", f"port={fence.port}") if is_closed else ()),
        )
        return replace(
            command,
            argv=(
                *shell(patient=True),
                *filtering(fence, command.env, fence.port),
                *launcher(fence.temp, *orders, limits=fence.limits),
                *command.argv,
            ),
            env={
                **env,
                **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), fence.temp),
                **to_proxy(fence, fence.port),
            },
            limits=limits_for(fence, ground.lots, SHARED_MEMORY),
        )

    def has_failed(self, exit_: Exit) -> str:
        """The launcher says so."""
        said = exit_.stderr.strip()
        return said.splitlines()[0][:200] if exit_.code == 126 and said.startswith(SAYS) else ""
