"""Seeing to it that a session finds `ralph`: it may be installed where no PATH leads."""

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from shlex import quote
from typing import Final

# -P: a folder `ralph` in the project, where the session calls it, is not this program.
SCRIPT: Final = '#!/bin/sh\nexec {python} -P -m ralph "$@"\n'


def with_ralph(env: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment, with `ralph` on its PATH: as it is there, or else as a script in `folder`.

    At the end of the PATH, and in a folder of its own, so that nothing else is found there.
    """
    path = env.get("PATH", os.defpath)
    if shutil.which("ralph", path=path) is not None:
        return dict(env)
    # A session can do without; whoever cannot write at all will hear of it soon.
    with suppress(OSError):
        _write(os.path.join(folder, "ralph"), SCRIPT.format(python=quote(sys.executable)))
    return {**env, "PATH": os.pathsep.join(filter(None, (path, folder)))}


def _write(file: str, text: str) -> None:
    os.makedirs(os.path.dirname(file), exist_ok=True)
    # Replaced, not written over: another run's session may be reading it.
    draft = f"{file}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as script:
        script.write(text)
    os.chmod(draft, 0o755)
    os.replace(draft, file)
