"""What a gate has to itself while others run theirs: ports, and a folder for temporary files.

Caches that tools keep in the tree are a worker's own already, since its checkout is; those of
package managers are made to be shared.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from ralph.core.errors import CannotWrite
from ralph.files import remove_tree

FIRST_PORT: Final = 20_000
PORTS: Final = 100
"""Of each seat. They end below those that systems hand out by themselves."""
SEATS: Final = 120
TEMPORARY: Final = ("TMPDIR", "TMP", "TEMP")


def port_base(seat: str) -> int:
    """The first port of a seat: `teammate-1` begins at 20000, the next one a hundred further."""
    number = seat.rpartition("-")[2]
    return FIRST_PORT + PORTS * ((int(number) - 1) % SEATS if number.isdecimal() else 0)


@contextmanager
def gate_room(
    inherited: Mapping[str, str], seat: str, *, is_walled: bool
) -> Iterator[Mapping[str, str]]:
    """The environment of one gate, once. Behind a wall temporary files are its own anyway."""
    env = {
        **inherited,
        "RALPH_SEAT": seat,
        "RALPH_PORT_BASE": str(port_base(seat)),
        "RALPH_PORT_COUNT": str(PORTS),
    }
    if is_walled:
        yield env
        return
    try:
        folder = tempfile.mkdtemp(prefix="ralph-gate-", dir=inherited.get("TMPDIR") or None)
    except OSError as error:
        raise CannotWrite(
            f"no folder for a gate's temporary files can be made: {error.strerror}",
            hint="free some space, or set TMPDIR to another folder",
        ) from error
    try:
        yield {**env, **dict.fromkeys(TEMPORARY, folder)}
    finally:
        # What a gate has made unremovable is left to whoever cleans up there.
        with suppress(OSError):
            remove_tree(folder)
