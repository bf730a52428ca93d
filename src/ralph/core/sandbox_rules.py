"""The sandbox rules of a session: which paths it may write, read or see, which programs it may
start, and what it may reach on the network.

Values only. Which of the places exist, and how a system keeps them closed, is for the adapters.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from ralph.core.hidden_paths import (
    ALL_AGENT_SETTINGS_FILES,
    ALL_AGENT_SETTINGS_FOLDERS,
    DESKTOP,
    HIDDEN,
    AllowRule,
)
from ralph.core.resource_limits import ResourceLimits
from ralph.core.settings import SandboxSection


class Access(StrEnum):
    """What a session may do with a path and everything below it."""

    WRITE = "write"
    READ = "read"
    HIDE = "hide"


class IfMissing(StrEnum):
    """What to do about a protected path that does not exist yet."""

    SKIP = "skip"
    FOLDER = "folder"
    """An empty folder holds it: nothing can be put there."""
    CLEAR = "clear"
    """What appears there is taken away afterwards: an empty file would have a meaning."""


class PathRule(msgspec.Struct, frozen=True, kw_only=True):
    """A path and the access to it. The rule for the deepest path wins."""

    path: str
    access: Access
    why: str
    if_missing: IfMissing = IfMissing.SKIP
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


class BlockedProgram(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    rule: str
    """Which opens it."""


class NetworkAccess(StrEnum):
    ON = "on"
    OFF = "off"
    PROXY = "proxy"


class SandboxRules(msgspec.Struct, frozen=True, kw_only=True):
    top: str
    """The checkout."""
    git: str
    """Its repository."""
    git_dir: str = ""
    """What is this checkout's alone in it, if that is elsewhere."""
    home: str
    paths: tuple[PathRule, ...]
    """Of two for the same path the later one counts."""
    blocked: tuple[BlockedProgram, ...] = ()
    sockets: tuple[str, ...] = ()
    """Of other programs, and yet reachable."""
    ralph_sockets: tuple[str, ...] = ()
    """Folders with a socket of our own."""
    network: NetworkAccess = NetworkAccess.ON
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
    session_folder: str = ""
    """The folder with Ralph's own files."""
    documents: tuple[str, ...] = ()
    """Names of those in it that sessions write."""
    limits: ResourceLimits = ResourceLimits()
    """What a command may use of the machine."""

    def with_paths(self, *more: PathRule) -> "SandboxRules":
        """The same with more rules, which win over those that are there."""
        return msgspec.structs.replace(self, paths=(*self.paths, *more))

    def access_to(self, path: str) -> Access:
        rule = self.rule_for(path)
        return rule.access if rule is not None else Access.READ

    def rule_for(self, path: str) -> PathRule | None:
        """The innermost; of two for the same path the later one."""
        rules = [rule for rule in self.paths if rule.path and is_inside(path, rule.path)]
        return max(reversed(rules), key=lambda rule: len(rule.path.rstrip("/")), default=None)

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """What a command finds inside."""
        kept = {
            name: value
            for name, value in env.items()
            if not any(fnmatchcase(name, pattern) for pattern in self.dropped)
        }
        return {**kept, **dict(self.env)}


class SandboxPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths that the rules are built from. All of them are absolute."""

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
    agent_settings: tuple[str, ...] = ()
    """Settings of agents, anywhere in the checkout."""
    others: tuple[str, ...] = ()
    """Folders of other projects in the checkout."""
    ralph_code: tuple[str, ...] = ()
    """What Ralph itself runs on, in the checkout."""
    git_runs: tuple[tuple[str, IfMissing], ...] = ()
    """What git's settings and commands of the person's name in the checkout."""
    shadowing: tuple[str, ...] = ()
    """Programs of git, of Ralph and of their scripts, where your PATH leads into the checkout."""
    unfinished: tuple[str, ...] = ()
    """Folders in the repository that are there and that no commit needs, such as a rebase."""
    homes: tuple[str, ...] = ()
    """Folders in which people keep what is theirs, beside `home`."""
    private: tuple[str, ...] = ()
    """Files of the system that not every user may read: a session of root does without, too."""
    required: tuple[tuple[str, str], ...] = ()
    """What a session must see to work, wherever it is, and why."""
    ralph_sockets: tuple[str, ...] = ()
    """Folders with a socket of our own."""
    variables: Mapping[str, str] = {}
    """The person's environment."""


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

FOUND_FIRST: Final = "your PATH would lead to it before the system's"
ALLOWED_BY_SETTINGS: Final = "you allow it"

RALPH_REFS: Final = "refs/ralph"
"""Refs of Ralph's own: work that does not count, checkouts, the branch of a team."""

PROJECT_LIST: Final = "ralph/projects"
"""The projects of a repository, from its git directory."""

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


def build_sandbox_rules(
    paths: SandboxPaths,
    settings: SandboxSection,
    rules: Mapping[str, AllowRule],
    limits: ResourceLimits,
) -> SandboxRules:
    """Build the rules of a project. Rules for a single session are added when it starts."""
    allowed = {name: rule for name, rule in rules.items() if name in settings.allow}
    closed = {name: rule for name, rule in rules.items() if name not in settings.allow}
    session_folder = _join(paths.project, ".ralph")
    own = [path.rpartition("/") for path in paths.documents]
    documents = [name for folder, _, name in own if folder == session_folder]
    sockets = [_full(one, paths) for rule in allowed.values() for one in rule.sockets]
    return SandboxRules(
        top=paths.top,
        git=paths.common_dir,
        git_dir=paths.git_dir,
        home=paths.home,
        paths=(
            *_hidden_by_default(paths),
            *(_read(path, why) for path, why in paths.required),
            *_secrets(paths, closed),
            *(_read(path, "the control socket") for path in paths.ralph_sockets),
            *_checkout(paths),
            *_repository(paths),
            *_state(paths),
            *(_read(path, "Ralph runs from there", IfMissing.CLEAR) for path in paths.ralph_code),
            _write(paths.cache, "a cache that all sessions of this project share", planned=True),
            *_allowed_paths(paths, allowed),
            *(_read(_full(path, paths), ALLOWED_BY_SETTINGS) for path in settings.read),
            *(_write(_full(path, paths), ALLOWED_BY_SETTINGS) for path in settings.write),
        ),
        blocked=tuple(
            BlockedProgram(name=name, rule=rule)
            for rule, what in closed.items()
            for name in what.bins
        ),
        sockets=tuple(path for path in sockets if path),
        ralph_sockets=paths.ralph_sockets,
        session_folder=session_folder,
        documents=tuple(dict.fromkeys((*DOCUMENTS, *documents))),
        network=NetworkAccess(settings.network),
        domains=settings.domains,
        limits=limits,
        dropped=(*DESKTOP, *(name for rule in closed.values() for name in rule.env)),
        env=tuple((name, _join(paths.cache, folder)) for name, folder in CACHES.items()),
    )


def _hidden_by_default(paths: SandboxPaths) -> Iterable[PathRule]:
    """Everything, to begin with: what a session needs is named one by one."""
    yield _hide("/", "what no session needs is not there", broad=True)
    # Named as well, since a person may open a folder around them.
    for path in paths.homes:
        yield _hide(path, "homes: nothing in them that is not listed here", broad=True)
    yield _hide("/run", "sockets of the system and of desktops", broad=True)
    yield _hide(paths.home, "your home: nothing in it that is not listed here", broad=True)


def _secrets(paths: SandboxPaths, closed: Mapping[str, AllowRule]) -> Iterable[PathRule]:
    for why, stores in HIDDEN.items():
        yield from (_hide(_full(path, paths), why) for path in stores)
    yield from (_hide(path, "not every user of this machine may read it") for path in paths.private)
    for name in (*ALL_AGENT_SETTINGS_FOLDERS, ".claude.json"):
        yield _hide(_join(paths.home, name), "each session has an agent's folder of its own")
    for name, rule in closed.items():
        for path in (*rule.write, *rule.read):
            yield _hide(_full(path, paths), f"--allow {name} opens it")


def _allowed_paths(paths: SandboxPaths, rules: Mapping[str, AllowRule]) -> Iterable[PathRule]:
    for name, rule in rules.items():
        yield from (_read(_full(path, paths), f"--allow {name}") for path in rule.read)
        yield from (_write(_full(path, paths), f"--allow {name}") for path in rule.write)


def _checkout(paths: SandboxPaths) -> Iterable[PathRule]:
    why = "what is planted there runs when you start an agent or an editor"
    yield _write(paths.top, "the checkout")
    for folder in dict.fromkeys((paths.top, paths.project)):
        for name in ALL_AGENT_SETTINGS_FOLDERS:
            yield _read(_join(folder, name), why, IfMissing.FOLDER)
        for name in ALL_AGENT_SETTINGS_FILES:
            yield _read(_join(folder, name), why, IfMissing.CLEAR)
    yield from (_read(path, why) for path in paths.agent_settings)


def _repository(paths: SandboxPaths) -> Iterable[PathRule]:
    """A repository in which commits can be made, and nothing be planted that git runs."""
    common, own = paths.common_dir, paths.git_dir
    runs = "git runs what it names"
    yield _write(common, "commits: objects, refs, index")
    for name in ("objects", "refs", "logs"):
        yield _write(_join(common, name), "commits", stays=True)
    # A commit adds single objects, whose content is compared with their names afterwards.
    for name in ("objects/pack", "objects/info"):
        yield _read(_join(common, name), "git believes what is said there", IfMissing.FOLDER)
    yield from (_read(path, "you are at it, or another tool is") for path in paths.unfinished)
    yield _read(_join(common, RALPH_REFS), "work that Ralph keeps", IfMissing.FOLDER)
    yield _read(_join(common, "config"), runs)
    for name in ("hooks", "info", "modules"):
        yield _read(_join(common, name), runs, IfMissing.FOLDER)
    yield _read(_join(common, "worktrees"), "other checkouts of yours", IfMissing.FOLDER)
    if own != common:
        for name in ("HEAD", "index"):
            yield _read(_join(common, name), "another checkout of yours", changes=True)
        yield _write(own, "commits: index and head of this checkout")
        yield _read(_join(own, "commondir"), runs)
        yield _read(_join(own, "gitdir"), runs)
    else:
        yield _read(_join(own, "commondir"), runs, IfMissing.CLEAR)
    yield _read(_join(own, "config.worktree"), runs, IfMissing.CLEAR)
    for folder in dict.fromkeys((common, own)):
        # A session that can open a lock can hold it, also if it cannot write it.
        yield _hide(_join(folder, "ralph"), "Ralph's locks and lists", planned=True, broad=True)
        yield _read(_join(folder, PROJECT_LIST), "the projects of this repository", changes=True)
    if own != _join(paths.top, ".git"):
        yield _read(_join(paths.top, ".git"), runs)
    for path, if_missing in paths.git_runs:
        yield _read(path, "git, or a command of yours, runs it outside", if_missing)
    for path in paths.shadowing:
        yield _read(path, FOUND_FIRST, IfMissing.CLEAR)
    # Another repository around the project, but not around the checkout, would be taken for it.
    folder = paths.project
    while folder != paths.top and is_inside(folder, paths.top):
        yield _read(_join(folder, ".git"), runs, IfMissing.FOLDER)
        folder = folder.rpartition("/")[0]


def _state(paths: SandboxPaths) -> Iterable[PathRule]:
    """A session cannot write what judges it; it can write its documents."""
    state = _join(paths.project, ".ralph")
    judges = "what judges, and what is known so far"
    for project in (paths.project, *paths.others):
        yield _read(_join(project, ".ralph.toml"), judges, IfMissing.CLEAR)
    for project in paths.others:
        yield _read(_join(project, ".ralph"), "another project", IfMissing.FOLDER)
        yield _read(_join(project, ".agents/ralph"), "another project", IfMissing.FOLDER)
    yield _read(_join(paths.project, ".agents/ralph"), "templates", IfMissing.FOLDER)
    yield _read(state, judges, planned=True)
    yield _hide(paths.folders, "other sessions' folders", planned=True)
    for folder in FOLDERS:
        yield _write(_join(state, folder), "documents", planned=True)
    for path in (*(_join(state, name) for name in DOCUMENTS), *paths.documents):
        yield _write(path, "documents")
    for path in paths.templates:
        yield _read(path, "templates")
    if not is_inside(paths.database, state):
        for end in ("", "-wal", "-shm"):
            yield _hide(paths.database + end, judges, changes=True)
        # SQLite believes a journal that it finds.
        yield _read(f"{paths.database}-journal", judges, IfMissing.CLEAR)


def _read(path: str, why: str, if_missing: IfMissing = IfMissing.SKIP, **more: Any) -> PathRule:
    return PathRule(path=path, access=Access.READ, why=why, if_missing=if_missing, **more)


def _write(path: str, why: str, **more: Any) -> PathRule:
    return PathRule(path=path, access=Access.WRITE, why=why, **more)


def _hide(path: str, why: str, **more: Any) -> PathRule:
    return PathRule(path=path, access=Access.HIDE, why=why, **more)


def outermost_first(rules: Iterable[PathRule]) -> tuple[PathRule, ...]:
    """Outer paths before the paths inside them. The last rule for a path wins."""
    last = {rule.path: rule for rule in rules if rule.path}
    return tuple(sorted(last.values(), key=lambda rule: (rule.path.count("/"), rule.path)))


def is_inside(path: str, folder: str) -> bool:
    """Whether the path is the folder, or something in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _full(path: str, paths: SandboxPaths) -> str:
    """`~` is the person's home, `$NAME` a variable; the rest is relative to the project."""
    if path.startswith("$"):
        name, _, rest = path[1:].partition("/")
        value = paths.variables.get(name, "")
        return (_join(value, rest) if rest else value) if value else ""
    if path == "~" or path.startswith("~/"):
        return _join(paths.home, path[2:])
    return path.rstrip("/") or "/" if path.startswith("/") else _join(paths.project, path)


def _join(folder: str, name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "/".join((folder.rstrip("/"), *parts)) or "/"
