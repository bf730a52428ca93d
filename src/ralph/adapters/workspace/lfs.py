"""Large files of private checkouts. git-lfs finds the source's by itself, where objects are
borrowed; what sessions add has to be brought back before their checkout goes."""

import hashlib
import os
import re
import shutil
from contextlib import suppress
from typing import Final

from ralph.core.errors import CannotWrite
from ralph.files import NotRegular, create_regular, open_regular, walk

OBJECTS: Final = os.path.join("lfs", "objects")
NAME: Final = re.compile(r"[0-9a-f]{64}")


def bring_large_files_home(source_dir: str, clone_dir: str) -> None:
    """Copy what the one git directory lacks from the other."""
    for folder, _, names in walk(os.path.join(clone_dir, OBJECTS)):
        for name in filter(NAME.fullmatch, names):
            target = os.path.join(source_dir, OBJECTS, name[:2], name[2:4], name)
            if not os.path.exists(target):
                _copy(os.path.join(folder, name), target)


def _copy(path: str, target: str) -> None:
    """Only what its name says: a session may have put anything there."""
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        fresh = f"{target}.{os.getpid()}"
        with open_regular(path, os.O_NOFOLLOW) as original, create_regular(fresh) as copy:
            shutil.copyfileobj(original, copy)
            # A commit relies on it.
            os.fsync(copy.fileno())
        with open_regular(fresh) as copy:
            is_whole = hashlib.file_digest(copy, "sha256").hexdigest() == os.path.basename(target)
        if is_whole:
            os.replace(fresh, target)
        with suppress(FileNotFoundError):
            os.unlink(fresh)
    except NotRegular:
        return
    except OSError as error:
        raise CannotWrite(f"cannot copy {path}: {error.strerror}") from error
