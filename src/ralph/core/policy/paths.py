"""Where a path reaches: the checkout, a temporary folder, a home, the system, or elsewhere."""

import re
from enum import Enum, auto
from posixpath import join, normpath
from typing import Final

from ralph.core.policy.decision import PolicyContext
from ralph.core.policy.words import UNKNOWN
from ralph.core.sandbox_rules import is_inside

TEMPORARY: Final = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")
OWN_STATE: Final = (".git", ".ralph")
DEVICE: Final = re.compile(
    r"/dev/(?:r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d|mapper/.|sr\d"
    r"|mem$|kmem$|port$|block/.)"
)
SYSTEM: Final = re.compile(
    r"/(?:(?:bin|boot|etc|lib\w*|opt|proc|run|sbin|srv|sys|usr|var|private|Applications|Library"
    r"|System)(?:/.*)?)?",
    re.DOTALL,
)
NOT_SYSTEM: Final = re.compile(r"/(?:proc/(?:self|\d+)|(?:private/)?var/folders)/.*", re.DOTALL)
SETTINGS: Final = re.compile(r"/(?:\.[^/]+|bin|Library)(?:/.*)?", re.DOTALL)
"""In a home: what shells, desktops and other programs run or obey when they start."""
CACHES: Final = re.compile(
    r"/(?:(?:\.cache|\.npm|\.m2|\.gradle|\.[^/]+/plans|Library/Caches)(?:/.*)?|\.ssh/known_hosts)",
    re.DOTALL,
)


class Reach(Enum):
    CHECKOUT = auto()
    """The top of the checkout."""
    OWN_STATE = auto()
    """What git and Ralph keep in the checkout."""
    PROJECT = auto()
    """The other files of the checkout."""
    TEMPORARY = auto()
    """Below a temporary folder."""
    ALL_TEMPORARY = auto()
    """A whole temporary folder."""
    DEVICE = auto()
    SETTINGS = auto()
    """What other programs of a person run or obey."""
    SYSTEM = auto()
    ELSEWHERE = auto()


def reach(path: str, context: PolicyContext) -> Reach:
    """The place that an absolute path leads to."""
    top, home = context.checkout, context.home
    in_home = is_inside(path, home)
    if is_inside(path, top) and not (in_home and home != top and is_inside(home, top)):
        inside = path[len(top.rstrip("/")) + 1 :]
        if any(is_inside(inside, own) for own in OWN_STATE):
            return Reach.OWN_STATE
        return Reach.PROJECT if inside else Reach.CHECKOUT
    if path in TEMPORARY:
        return Reach.ALL_TEMPORARY
    around_home = (in_home or is_inside(home, path)) and home not in TEMPORARY
    beside = top.rpartition("/")[0]
    around_top = is_inside(top, path) or (_is_temporary(beside) and is_inside(path, beside))
    if _is_temporary(path) and not around_home and not around_top:
        return Reach.TEMPORARY
    if DEVICE.match(path):
        return Reach.DEVICE
    if found := re.fullmatch(f"{any_home(home)}(/.*)", path, re.DOTALL):
        is_obeyed = SETTINGS.fullmatch(found[1]) and not CACHES.fullmatch(found[1])
        return Reach.SETTINGS if is_obeyed else Reach.ELSEWHERE
    is_system = SYSTEM.fullmatch(path) and not NOT_SYSTEM.fullmatch(path)
    return Reach.SYSTEM if is_system else Reach.ELSEWHERE


def _is_temporary(path: str) -> bool:
    return path not in TEMPORARY and any(is_inside(path, folder) for folder in TEMPORARY)


def resolve(path: str, cwd: str | None) -> str | None:
    """The absolute path; None when it depends on something unknown."""
    if not path.startswith("/"):
        if cwd is None or path.startswith(UNKNOWN):
            return None
        path = join(cwd, path)
    return normpath(path)


def any_home(home: str) -> str:
    """A pattern for the home folder of any user."""
    return rf"(?:{re.escape(home)}|/root|/(?:home|Users)/[^/]+)"
