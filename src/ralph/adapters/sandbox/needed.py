"""What must be seen inside although the folder around it is replaced: `/tmp` and `/run` are others
there, and programs may live in them."""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Final

import ralph
from ralph.core.fence import is_inside

REPLACED: Final = ("/tmp", "/var/tmp", "/run", "/var/run")
SYSTEM: Final = ("/etc/resolv.conf", "/run/current-system", "/run/opengl-driver", "/run/wrappers")
"""Names are looked up by the first; on NixOS every program is in the others."""


def needed(env: Mapping[str, str], home: str) -> tuple[str, ...]:
    """Of what Ralph and its sessions run on, the part that lies in a replaced folder."""
    roots = {os.path.realpath(path) for path in REPLACED}
    found = dict.fromkeys(os.path.realpath(path) for path in _wanted(env, home))
    return tuple(
        path
        for path in found
        if path not in roots
        and any(is_inside(path, root) for root in roots)
        and os.path.exists(path)
    )


def ours(top: str) -> tuple[str, ...]:
    """Of what Ralph itself runs on, the part that lies in a checkout: it would run what a session
    makes of it, without any wall."""
    found: list[str] = []
    for path in map(os.path.realpath, (sys.prefix, sys.base_prefix, *ralph.__path__)):
        if path == top:
            found += (os.path.join(top, name) for name in ("bin", "lib", "lib64", "pyvenv.cfg"))
        elif is_inside(path, top) and not any(is_inside(path, other) for other in found):
            found.append(path)
    return tuple(found)


def _wanted(env: Mapping[str, str], home: str) -> Iterator[str]:
    yield home
    yield from SYSTEM
    yield from (sys.prefix, sys.base_prefix, os.path.realpath(sys.executable))
    yield from (os.path.dirname(folder) for folder in ralph.__path__)
    for folder in env.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            yield folder
            # A program finds the rest of what it was installed with beside its `bin`.
            if os.path.basename(folder) == "bin":
                yield os.path.dirname(folder)
