"""The fence around a session: what it may write, read and reach, and why.

Values only. Which of the places exist, and how a system keeps them closed, is for the adapters.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from ralph.core.doors import Rule
from ralph.core.hidden import AGENT_FILES, AGENT_SETTINGS, DESKTOP, HIDDEN
from ralph.core.resources import Resources


class Access(StrEnum):
    """What a session may do with a place and all that is in it."""

    WRITE = "write"
    READ = "read"
    HIDE = "hide"


class Absent(StrEnum):
    """What to do about a place that must not be written and does not exist yet."""

    SKIP = "skip"
    FOLDER = "folder"
    """An empty folder holds it: nothing can be put there."""
    CLEAR = "clear"
    """What appears there is taken away afterwards: an empty file would have a meaning."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder, and what a session may do there. The deepest place wins."""

    path: str
    access: Access
    why: str
    absent: Absent = Absent.SKIP
    planned: bool = False
    """A folder of ours: made if it is not there."""
    changes: bool = False
    """Others write it all the time, so that a change says nothing."""
    source: str = ""
    """What is shown there instead, where that can be done."""
    stays: bool = False
    """It is written in, and cannot be renamed or replaced."""
    broad: bool = False
    """Hidden as a whole, since nothing in it is needed; what is, is a place of its own."""


class Blocked(msgspec.Struct, frozen=True, kw_only=True):
    """A program that cannot be started."""

    name: str
    rule: str
    """Which opens it."""


class Network(StrEnum):
    """What can be reached beyond this machine."""

    ON = "on"
    OFF = "off"
    PROXY = "proxy"


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a wall is built from."""

    top: str
    """The checkout."""
    git: str
    """Its repository."""
    git_dir: str = ""
    """What is this checkout's alone in it, if that is elsewhere."""
    home: str
    places: tuple[Place, ...]
    """Of two for the same path the later one counts."""
    blocked: tuple[Blocked, ...] = ()
    sockets: tuple[str, ...] = ()
    """Of other programs, and yet reachable."""
    doors: tuple[str, ...] = ()
    """Folders with a socket of our own."""
    network: Network = Network.ON
    domains: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Variables, or patterns, that do not go inside."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables that are set inside."""
    temp: str = ""
    """A folder of this session alone, gone afterwards; inside it is the only temporary one."""
    proxy: str = ""
    """The socket of this session's filtering proxy."""
    port: int = 0
    """Its port, where a session shares the machine's network."""
    desk: str = ""
    """The folder with Ralph's own files."""
    documents: tuple[str, ...] = ()
    """Names of those in it that sessions write."""
    limits: Resources = Resources()
    """What a command may use of the machine."""

    def with_places(self, *more: Place) -> "Fence":
        """The same with more places; each counts more than what is there."""
        return msgspec.structs.replace(self, places=(*self.places, *more))

    def access(self, path: str) -> Access:
        """What a session may do at a path."""
        place = self.place(path)
        return place.access if place is not None else Access.READ

    def place(self, path: str) -> Place | None:
        """The place that decides about a path."""
        found = None
        for place in ordered(self.places):
            if is_inside(path, place.path):
                found = place
        return found

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """What a command finds inside."""
        kept = {
            name: value
            for name, value in env.items()
            if not any(fnmatchcase(name, pattern) for pattern in self.dropped)
        }
        return {**kept, **dict(self.env)}


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """Where the fence stands. All paths are absolute."""

    home: str
    top: str
    project: str
    """The folder of `.ralph.toml`."""
    git_dir: str
    common_dir: str
    """Elsewhere than `git_dir` in a linked worktree."""
    database: str
    cache: str
    folders: str
    """Where sessions' folders for their agents are: each sees only its own."""
    documents: tuple[str, ...] = ()
    """More files that agents write, beside Ralph's own."""
    templates: tuple[str, ...] = ()
    """Where people keep templates, other than the usual place."""
    steering: tuple[str, ...] = ()
    """Settings of agents, anywhere in the checkout."""
    others: tuple[str, ...] = ()
    """Folders of other projects in the checkout."""
    ours: tuple[str, ...] = ()
    """What Ralph itself runs on, in the checkout."""
    git_runs: tuple[tuple[str, Absent], ...] = ()
    """What git's settings name in the checkout."""
    unfinished: tuple[str, ...] = ()
    """Folders in the repository that are there and that no commit needs, such as a rebase."""
    homes: tuple[str, ...] = ()
    """Folders in which people keep what is theirs, beside `home`."""
    needed: tuple[tuple[str, str], ...] = ()
    """What a session must see to work, wherever it is, and why."""
    doors: tuple[str, ...] = ()
    """Folders with a socket of our own."""
    variables: Mapping[str, str] = {}
    """The person's environment."""


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants opened."""

    allow: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    network: Network = Network.ON
    domains: tuple[str, ...] = ()
    limits: Resources = Resources()
    rules: Mapping[str, Rule]
    """All that there are, open or not."""


DOCUMENTS: Final = (
    "IMPLEMENTATION_PLAN.md",
    "progress.md",
    "guardrails.md",
    "errors.log",
    "activity.log",
)
"""Files below `.ralph` that agents write."""
FOLDERS: Final = ("features", "specs", "skills")
"""Folders below `.ralph` that agents write in."""

ALLOWED: Final = "you allow it"

OURS_IN_GIT: Final = "refs/ralph"
"""Refs of Ralph's own: work that does not count, checkouts, the branch of a team."""

CACHES: Final = {
    "XDG_CACHE_HOME": "",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
    "YARN_CACHE_FOLDER": "yarn",
    "GOCACHE": "go-build",
    "GOMODCACHE": "go-mod",
    "GRADLE_USER_HOME": "gradle",
    "NUGET_PACKAGES": "nuget",
    "DENO_DIR": "deno",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "XDG_STATE_HOME": "state",
}
"""Variables by which tools find their cache: where ours has room for them."""


def build(site: Site, wishes: Wishes) -> Fence:
    """The fence of a project. What a session has of its own is added when it starts."""
    open_ = {name: rule for name, rule in wishes.rules.items() if name in wishes.allow}
    shut = {name: rule for name, rule in wishes.rules.items() if name not in wishes.allow}
    places = (
        *_unseen(site),
        *(_read(path, why) for path, why in site.needed),
        *_secrets(site, shut),
        *(_read(path, "the door to the running loop") for path in site.doors),
        *_checkout(site),
        *_repository(site),
        *_state(site),
        *(_read(path, "Ralph itself runs from there") for path in site.ours),
        Place(
            path=site.cache,
            access=Access.WRITE,
            why="a cache that all sessions of this project share",
            planned=True,
        ),
        *_opened(site, open_),
        *(_read(_full(path, site), ALLOWED) for path in wishes.read),
        *(_write(_full(path, site), ALLOWED) for path in wishes.write),
    )
    desk = _join(site.project, ".ralph")
    papers = [path for path in site.documents if path.rpartition("/")[0] == desk]
    sockets = [_full(one, site) for rule in open_.values() for one in rule.sockets]
    return Fence(
        top=site.top,
        git=site.common_dir,
        git_dir=site.git_dir,
        home=site.home,
        places=places,
        blocked=tuple(
            Blocked(name=name, rule=rule) for rule, what in shut.items() for name in what.bins
        ),
        sockets=tuple(path for path in sockets if path),
        doors=site.doors,
        desk=desk,
        documents=tuple(dict.fromkeys((*DOCUMENTS, *(p.rpartition("/")[2] for p in papers)))),
        network=wishes.network,
        domains=wishes.domains,
        limits=wishes.limits,
        dropped=(*DESKTOP, *(name for rule in shut.values() for name in rule.env)),
        env=tuple((name, _join(site.cache, folder)) for name, folder in CACHES.items()),
    )


def _unseen(site: Site) -> Iterable[Place]:
    """Everything, to begin with: what a session needs is named one by one."""
    unneeded = "what no session needs is not there"
    yield Place(path="/", access=Access.HIDE, why=unneeded, broad=True)
    # Named as well, for those who open a folder around them.
    whys = dict.fromkeys(site.homes, "homes: nothing in them that is not listed here")
    whys["/run"] = "sockets of the system and of desktops"
    whys[site.home] = "your home: nothing in it that is not listed here"
    for path, why in whys.items():
        yield Place(path=path, access=Access.HIDE, why=why, broad=True)


def _secrets(site: Site, shut: Mapping[str, Rule]) -> Iterable[Place]:
    for why, paths in HIDDEN.items():
        yield from (_hide(_full(path, site), why) for path in paths)
    for name in (*AGENT_SETTINGS, ".claude.json"):
        path = _join(site.home, name)
        yield _hide(path, "each session has an agent's folder of its own")
    for name, rule in shut.items():
        for path in (*rule.write, *rule.read):
            yield _hide(_full(path, site), f"--allow {name} opens it")


def _opened(site: Site, rules: Mapping[str, Rule]) -> Iterable[Place]:
    for name, rule in rules.items():
        yield from (_read(_full(path, site), f"--allow {name}") for path in rule.read)
        yield from (_write(_full(path, site), f"--allow {name}") for path in rule.write)


def _checkout(site: Site) -> Iterable[Place]:
    yield _write(site.top, "the checkout")
    for folder in dict.fromkeys((site.top, site.project)):
        for name in AGENT_SETTINGS:
            yield _steers(_join(folder, name), Absent.FOLDER)
        for name in AGENT_FILES:
            yield _steers(_join(folder, name), Absent.CLEAR)
    yield from (_steers(path, Absent.SKIP) for path in site.steering)


def _steers(path: str, absent: Absent) -> Place:
    why = "what is planted there runs when you start an agent or an editor"
    return Place(path=path, access=Access.READ, why=why, absent=absent)


def _repository(site: Site) -> Iterable[Place]:
    """A repository in which commits can be made, and nothing be planted that git runs."""
    common, own = site.common_dir, site.git_dir
    runs = "git runs what it names"
    yield _write(common, "commits: objects, refs, index")
    for name in ("objects", "refs", "logs"):
        yield Place(path=_join(common, name), access=Access.WRITE, why="commits", stays=True)
    yield from (_read(path, "you are at it, or another tool is") for path in site.unfinished)
    yield _read(_join(common, OURS_IN_GIT), "work that Ralph keeps", absent=Absent.FOLDER)
    yield _read(_join(common, "config"), runs)
    for name in ("hooks", "info", "modules"):
        yield _read(_join(common, name), runs, absent=Absent.FOLDER)
    yield _read(_join(common, "worktrees"), "other checkouts of yours", absent=Absent.FOLDER)
    if own != common:
        for name in ("HEAD", "index"):
            yield _read(_join(common, name), "another checkout of yours", changes=True)
        yield _write(own, "commits: index and head of this checkout")
        yield _read(_join(own, "commondir"), runs)
        yield _read(_join(own, "gitdir"), runs)
    else:
        yield _read(_join(own, "commondir"), runs, absent=Absent.CLEAR)
    yield _read(_join(own, "config.worktree"), runs, absent=Absent.CLEAR)
    for folder in dict.fromkeys((common, own)):
        yield _read(_join(folder, "ralph"), "Ralph's locks and lists", planned=True)
    if own != _join(site.top, ".git"):
        yield _read(_join(site.top, ".git"), runs)
    for path, absent in site.git_runs:
        yield _read(path, runs, absent=absent)
    # Another repository around the project, but not around the checkout, would be taken for it.
    folder = site.project
    while folder != site.top and is_inside(folder, site.top):
        yield _read(_join(folder, ".git"), runs, absent=Absent.FOLDER)
        folder = folder.rpartition("/")[0]


def _state(site: Site) -> Iterable[Place]:
    """What judges is out of a session's reach; what it is to write is not."""
    state = _join(site.project, ".ralph")
    judges = "what judges, and what is known so far"
    for project in (site.project, *site.others):
        yield _read(_join(project, ".ralph.toml"), judges, absent=Absent.CLEAR)
    for project in site.others:
        yield _read(_join(project, ".ralph"), "another project", absent=Absent.FOLDER)
        yield _read(_join(project, ".agents/ralph"), "another project", absent=Absent.FOLDER)
    yield _read(_join(site.project, ".agents/ralph"), "templates", absent=Absent.FOLDER)
    yield _read(state, judges, planned=True)
    yield _hide(site.folders, "other sessions' folders", planned=True)
    for folder in FOLDERS:
        yield _write(_join(state, folder), "documents", planned=True)
    for path in (*(_join(state, name) for name in DOCUMENTS), *site.documents):
        yield _write(path, "documents")
    for path in site.templates:
        yield _read(path, "templates")
    if not is_inside(site.database, state):
        for end in ("", "-wal", "-shm"):
            yield _read(site.database + end, judges, changes=True)
        # Where there is one, SQLite believes it.
        yield _read(f"{site.database}-journal", judges, absent=Absent.CLEAR)


def _read(
    path: str,
    why: str,
    *,
    absent: Absent = Absent.SKIP,
    planned: bool = False,
    changes: bool = False,
) -> Place:
    return Place(
        path=path, access=Access.READ, why=why, absent=absent, planned=planned, changes=changes
    )


def _write(path: str, why: str, *, planned: bool = False) -> Place:
    return Place(path=path, access=Access.WRITE, why=why, planned=planned)


def _hide(path: str, why: str, *, planned: bool = False) -> Place:
    return Place(path=path, access=Access.HIDE, why=why, planned=planned)


def ordered(places: Iterable[Place]) -> tuple[Place, ...]:
    """Shallow ones first, so that each lies on top of what it is in; the last word on a path
    counts."""
    last = {place.path: place for place in places if place.path}
    return tuple(sorted(last.values(), key=lambda place: (place.path.count("/"), place.path)))


def is_inside(path: str, folder: str) -> bool:
    """Is it the folder, or something in it?"""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _full(path: str, site: Site) -> str:
    """`~` is the person's home, `$NAME` a variable; the rest is relative to the project."""
    if path.startswith("$"):
        name, _, rest = path[1:].partition("/")
        value = site.variables.get(name, "")
        return (_join(value, rest) if rest else value) if value else ""
    if path == "~" or path.startswith("~/"):
        return _join(site.home, path[2:])
    return path.rstrip("/") or "/" if path.startswith("/") else _join(site.project, path)


def _join(folder: str, name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "/".join((folder.rstrip("/"), *parts)) or "/"
