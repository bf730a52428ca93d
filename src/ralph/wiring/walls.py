"""Where the parts of a wall meet: a project's settings, what is on disk, and a sandbox."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.homes import SessionHomes
from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.executor.usage import total_memory
from ralph.adapters.sandbox.bubblewrap import Bubblewrap
from ralph.adapters.sandbox.choosing import choose
from ralph.adapters.sandbox.describing import Described, describe, private
from ralph.adapters.sandbox.documents import documents, templates
from ralph.adapters.sandbox.needed import homes, needed, ours, with_its_folder
from ralph.adapters.sandbox.searching import Outside, out_of_reach
from ralph.adapters.sandbox.traps import steering, unfinished
from ralph.adapters.sandbox.wall import CheckoutWall, Inside, NoWall
from ralph.adapters.workspace.known_projects import list_projects, other_projects, sandbox_caches
from ralph.adapters.workspace.layout import Layout, alternates, borrowed, layout, top_of
from ralph.adapters.workspace.named import Named, Settings, files_in, named_by_git
from ralph.config.load import Loaded
from ralph.core.domains import check_domains
from ralph.core.doors import Rule, all_rules, check_rules
from ralph.core.environment import DURABLE_GIT, inherited
from ralph.core.errors import BadConfig, Missing, RalphError, Unavailable
from ralph.core.fence import (
    ALLOWED,
    DOCUMENTS,
    FOLDERS,
    OURS_IN_GIT,
    Absent,
    Access,
    Fence,
    Network,
    Place,
    Site,
    Wishes,
    build,
    is_inside,
)
from ralph.core.resources import Resources, size
from ralph.files import walk
from ralph.ports.agent import Agent, Traits
from ralph.ports.executor import Captures, LimitedCaptures
from ralph.ports.sandbox import Sandbox, Wall
from ralph.wiring.project import Project

MEMORY_SHARE: Final = 0.75
DISK_SHARE: Final = 0.25
"""What a session may use of a machine's memory, and of what is free on its disk."""


def wishes(loaded: Loaded) -> Wishes:
    """What a person wants opened."""
    settings = loaded.config.sandbox
    own = {
        name: Rule(write=rule.write, read=rule.read, bins=rule.bins, env=rule.env)
        for name, rule in settings.rules.items()
    }
    rules = all_rules(own)
    with _blaming(loaded, "sandbox.allow"):
        check_rules(settings.allow, rules)
    with _blaming(loaded, "sandbox.domains"):
        check_domains(settings.domains)
    return Wishes(
        allow=settings.allow,
        write=settings.write,
        read=settings.read,
        network=Network(settings.network),
        domains=settings.domains,
        limits=Resources(
            processes=settings.processes,
            memory=int(total_memory() * MEMORY_SHARE)
            if settings.memory == "auto"
            else size(settings.memory),
            open_files=settings.open_files,
            disk=size(settings.disk),
            disk_share=DISK_SHARE if settings.disk == "auto" else 0.0,
        ),
        rules=rules,
    )


@contextmanager
def _blaming(loaded: Loaded, key: str) -> Iterator[None]:
    """What is wrong is wrong there."""
    try:
        yield
    except RalphError as error:
        source = loaded.source(key)
        if source.kind == "flag":
            raise
        raise BadConfig(f"{source}: {error}", hint=error.hint) from error


def session_environment(
    loaded: Loaded, environ: Mapping[str, str], keys: Sequence[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What sessions inherit, and the names of the secrets that they do not; `keys` say who pays."""
    wanted = wishes(loaded)
    opened = [name for rule in wanted.allow for name in wanted.rules[rule].env]
    kept, dropped = inherited(environ, (*loaded.config.agent.pass_env, *opened), keys)
    # Somebody who lets such settings through has their own.
    return (kept if "GIT_CONFIG_COUNT" in kept else kept | DURABLE_GIT), dropped


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """A project on a machine: where fences stand."""

    loaded: Loaded
    database: str
    environ: Mapping[str, str]
    doors: tuple[str, ...] = ()
    command: str = ""
    """What a person runs behind the wall."""

    @property
    def state(self) -> str:
        """Where sessions' folders are, and what a wall keeps in mind."""
        return os.path.join(self.loaded.root, ".ralph", ".tmp")

    def fence(self, folder: str) -> Fence:
        """The fence around sessions in the checkout of the project that has this folder."""
        root, home = self.loaded.root, self.environ.get("HOME") or os.path.expanduser("~")
        top = top_of(folder)
        if top is None:
            raise Missing(f"{folder} is not in a git repository", hint="git init")
        repository = layout(top)
        site = Site(
            home=home,
            top=top,
            project=self._project(top),
            git_dir=repository.git_dir,
            common_dir=repository.common_dir,
            database=os.path.abspath(self.database),
            cache=_cache(root, self.environ),
            folders=self.state,
            homes=homes(),
            documents=documents(self._project(top), self.loaded.variables),
            templates=templates(self._project(top), self.loaded.variables),
            ours=(*ours(top), *self._messenger(top)),
            steering=steering(top),
            others=tuple(_others(top, self.loaded.root)),
            unfinished=(*unfinished(repository.common_dir), *unfinished(repository.git_dir)),
            doors=self.doors,
            variables=self.environ,
        )
        wanted = wishes(self.loaded)
        fence = build(site, wanted)
        # Git itself is asked, so it must not be one that a session has put there.
        settings = _git_settings(top, out_of_reach(self.path, fence))
        roots = (top, repository.git_dir, repository.common_dir)
        inside = [one for one in settings.named if any(is_inside(one.path, r) for r in roots)]
        outside = [one for one in settings.named if one not in inside]
        site = replace(
            site,
            git_runs=tuple((one.path, _if_absent(one)) for one in inside if one.is_run),
            needed=(*self._needed(fence, top, repository), *self._read_by_git(outside, home)),
        )
        fence = build(site, wanted)
        fence = fence.with_places(*self._lent(top), *self._named(fence))
        if any(one.holds_secret for one in outside):
            return replace(fence, env=(*fence.env, *self._identity(settings)))
        return fence

    def _needed(self, fence: Fence, top: str, repository: Layout) -> Iterator[tuple[str, str]]:
        """What sessions need of this machine."""
        places = fence.places
        yield from needed(
            self.environ,
            fence.home,
            written=[place.path for place in places if place.access is Access.WRITE],
            hidden=[p.path for p in places if p.access is Access.HIDE and not p.broad],
            checkouts=(top, self._project(top)),
        )
        for path in alternates(repository.common_dir):
            yield path, "this repository borrows objects there"

    def _read_by_git(self, named: Sequence[Named], home: str) -> Iterator[tuple[str, str]]:
        """Settings outside of the checkout, and what they name that is only read."""
        base = self.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        usual = (os.path.join(home, ".gitconfig"), os.path.join(base, "git", "config"))
        read = [one.path for one in named if one.counts_when_made or not one.is_run]
        secret = [one.path for one in named if one.holds_secret]
        for path in dict.fromkeys((*usual, *read)):
            if path not in secret:
                yield path, "settings of git"

    def _identity(self, settings: Settings) -> Iterator[tuple[str, str]]:
        """Who commits, where sessions cannot read it, since a password is beside it."""
        yield "GIT_CONFIG_GLOBAL", os.devnull
        for name, value in (("NAME", settings.name), ("EMAIL", settings.email)):
            for who in ("AUTHOR", "COMMITTER"):
                if value and f"GIT_{who}_{name}" not in self.environ:
                    yield f"GIT_{who}_{name}", value

    def _lent(self, top: str) -> Iterator[Place]:
        """What a checkout that was made for a session needs of the person's own: it can be in a
        folder that is out of sight, such as /tmp."""
        own = top_of(self.loaded.root)
        if own is None or own == top:
            return
        # An agent's command may name a file there.
        yield Place(path=own, access=Access.READ, why="your own checkout")
        objects = os.path.join(layout(own).common_dir, "objects")
        why = "this checkout borrows them"
        yield Place(path=objects, access=Access.READ, why=why)
        modules = os.path.join(layout(own).common_dir, "modules")
        yield Place(path=modules, access=Access.READ, why=why)
        # One that is made of a task's own checkout borrows from that as well.
        between = borrowed(top)
        if is_inside(between, os.path.join(self.loaded.root, ".ralph", "checkouts")):
            yield Place(path=between, access=Access.READ, why=why)
        yield Place(path=self.loaded.runs_dir, access=Access.READ, why="what sessions are told")

    def _named(self, fence: Fence) -> Iterator[Place]:
        """Files that the person's own commands name, such as an agent's script: they may be in a
        folder that is not there inside, such as /tmp. What is written or holds keys stays so."""
        config = self.loaded.config
        own = (line for name, line in self.loaded.variables.items() if name.startswith("AGENT_"))
        for command in (config.agent.command, *own, *config.gates.commands.values(), self.command):
            for path in files_in(command, self.loaded.root):
                place = fence.place(path)
                if place is None or place.access is Access.READ or place.broad:
                    shown = with_its_folder(path, fence.home, fence.top)
                    yield Place(path=shown, access=Access.READ, why="a command of yours names it")

    def _messenger(self, top: str) -> tuple[str, ...]:
        """What a person's own command for messages names in the checkout: it runs outside."""
        command = self.loaded.config.notify.command
        return tuple(path for path in files_in(command, self.loaded.root) if is_inside(path, top))

    @property
    def search(self) -> str:
        """Where Ralph looks for programs of its own."""
        return out_of_reach(self.path, self.fence(self.loaded.root))

    @property
    def path(self) -> str:
        """The person's own."""
        return self.environ.get("PATH", os.defpath)

    def _project(self, top: str) -> str:
        """The project's folder: in any checkout it is as far from the top as at home."""
        root = self.loaded.root
        return os.path.normpath(os.path.join(top, os.path.relpath(root, top_of(root) or root)))


def _others(top: str, root: str) -> Iterator[str]:
    """Folders of other projects, in any checkout of the repository."""
    for name in other_projects(root):
        path = os.path.normpath(os.path.join(top, name))
        around = path
        while not os.path.lexists(around):
            around = os.path.dirname(around)
        if os.path.isdir(around):  # or else a file is in its place
            yield path


@lru_cache
def _git_settings(top: str, path: str) -> Settings:
    """Asked once: a run's configuration is frozen when it starts."""
    try:
        return named_by_git(Outside(Processes(SystemClock()), path), top)
    except Unavailable:
        return Settings(named=(), name="", email="")  # without git nothing heeds its settings


def _if_absent(one: Named) -> Absent:
    if not one.counts_when_made:
        return Absent.SKIP
    return Absent.FOLDER if one.is_folder else Absent.CLEAR


def _cache(root: str, environ: Mapping[str, str]) -> str:
    """One for each project, beside other caches: none that a person's own tools read."""
    name = f"{os.path.basename(root)}-{sha256(os.fsencode(root)).hexdigest()[:8]}"
    return os.path.join(sandbox_caches(environ), name)


def described(ground: Ground) -> Described:
    """The fence in words, and what would keep it."""
    executor = Processes(SystemClock())
    note, name = "", ""
    gaps: tuple[str, ...] = ()
    settings = ground.loaded.config.sandbox
    try:
        sandbox, note = choose(settings.use, executor, ground.search)
    except Unavailable as error:
        note = f"{error}: {error.hint}"
    else:
        name, gaps = sandbox.name, tuple(sandbox.gaps)
    finally:
        executor.close()
    if settings.mode == "off":
        source = ground.loaded.source("sandbox.mode")
        note = f"[sandbox] mode is off ({source}): runs use none of this"
    home = Place(
        path=os.path.join(ground.state, "agents", "…"),
        access=Access.WRITE,
        why="a folder for its agent, one for each session",
        planned=True,
    )
    return describe(
        ground.fence(ground.loaded.root).with_places(home, *private(name)),
        ground.environ,
        sandbox=name,
        note=note,
        gaps=gaps,
        secrets=session_environment(ground.loaded, ground.environ)[1],
    )


def a_sandbox(ground: Ground, executor: Captures) -> tuple[Sandbox, str]:
    """What keeps the fence here, and why it is not a better one; an error if nothing can."""
    _check_owner(ground.loaded.root)
    _check_top(ground.fence(ground.loaded.root))
    return choose(ground.loaded.config.sandbox.use, executor, ground.search)


@contextmanager
def wall_of(ground: Ground, sandbox: Sandbox, weaker: str) -> Iterator[CheckoutWall]:
    """The wall, standing."""
    list_projects(ground.loaded.root, ground.environ)
    with CheckoutWall(sandbox, ground.fence, ground.loaded.root, ground.state) as wall:
        if weaker:
            wall.warnings.insert(0, weaker)
        wall.warnings += [f"{wall.name} does not stop this: {gap}" for gap in wall.gaps]
        wall.warnings += _in_vain(wall.fence)
        wall.warnings += [
            f"Ralph runs from {path}, in the checkout, so sessions cannot change that;"
            " install Ralph elsewhere if they should"
            for path in ours(wall.fence.top)
        ]
        yield wall


def _in_vain(fence: Fence) -> Iterator[str]:
    """What a person wished for, and does not get."""
    if fence.network is Network.PROXY and not fence.domains:
        yield 'no domain is listed, so nothing is reached: [sandbox] domains = ["api.example.com"]'
    for place in fence.places:
        is_wish = place.why == ALLOWED and not is_inside(place.path, fence.top)
        if is_wish and not os.path.lexists(place.path):
            yield f"{place.path} is not there, so it cannot be opened to sessions; make it first"


def _check_owner(top: str) -> None:
    """Behind the wall nobody has powers over others' files, root neither."""
    owner, me = os.stat(top).st_uid, os.geteuid()
    if me == 0 != owner:
        raise Unavailable(
            f"{top} belongs to another user, so sessions of root could not write there",
            hint=f"run Ralph as its owner: setpriv --reuid={owner} --clear-groups ralph …",
        )


def _check_top(fence: Fence) -> None:
    """A checkout can be written, so it cannot be what must not be."""
    top = os.path.realpath(fence.top)
    if top == os.path.realpath(fence.home):
        trouble = f"{fence.top} is your home, and what is planted there runs when you log in"
    elif any(
        place.access is Access.HIDE and is_inside(top, os.path.realpath(place.path))
        for place in fence.places
        if place.path and not place.broad
    ):
        trouble = f"{fence.top} lies where sessions must not look"
    else:
        return
    raise Unavailable(
        f"sessions need a sandbox, and {trouble}", hint="work in a checkout elsewhere"
    )


class Enclosure(msgspec.Struct, frozen=True, kw_only=True):
    """What a single command needs to run as a session would."""

    wall: CheckoutWall
    executor: Processes
    env: Mapping[str, str]
    home: str
    """The agent's folder of configuration; empty without an agent."""


@contextmanager
def an_enclosure(ground: Ground, traits: Traits | None) -> Iterator[Enclosure]:
    """The wall around a project, and an agent's folder in it, for one command."""
    executor = Processes(SystemClock())
    homes = SessionHomes(ground.state, ground.environ)
    with ExitStack() as stack:
        stack.callback(executor.close)
        stack.callback(homes.shut)
        wall = stack.enter_context(wall_of(ground, *a_sandbox(ground, executor)))
        keys = traits.keys if traits is not None else ()
        env, _ = session_environment(ground.loaded, ground.environ, keys)
        if traits is not None and traits.home is not None:
            env |= homes.open(traits.name, traits.home, f"run-{os.getpid()}", {})
        yield Enclosure(wall=wall, executor=executor, env=env, home=homes.folder)


def our_git(executor: LimitedCaptures, wall: CheckoutWall, state: str, *more: str) -> Captures:
    """Ralph's own git, behind the same wall. It also writes its locks, private checkouts and
    `more`, and replaces documents, as a session cannot."""
    why = "Ralph's own git works there"
    private = os.path.join(state, "checkouts")
    folders = layout(wall.fence.top)
    refs = os.path.join(folders.common_dir, OURS_IN_GIT)
    ours = (os.path.join(folders.git_dir, "ralph"), refs, private, *more)
    for path in ours:
        os.makedirs(path, exist_ok=True)
    written = (*ours, state, *_submodules(folders.common_dir))
    places = [Place(path=path, access=Access.WRITE, why=why) for path in written]
    places += [
        Place(path=os.path.join(state, name), access=Access.READ, why="what judges")
        for name in os.listdir(state)
        if name not in (*DOCUMENTS, *FOLDERS, ".tmp", os.path.basename(private))
        and not name.endswith(".md")
    ]
    sandbox = wall.sandbox
    if isinstance(sandbox, Bubblewrap):
        sandbox = sandbox.for_ourselves()
    return Inside(executor, sandbox, wall.own_fence.with_places(*places))


def _submodules(common_dir: str) -> Iterator[str]:
    """Where commits made in submodules of private checkouts are brought: nothing that git runs."""
    for folder, names, files in walk(os.path.join(common_dir, "modules")):
        if "HEAD" in files and "objects" in names:
            yield from (os.path.join(folder, name) for name in ("objects", "refs"))
            # Those of submodules of submodules are in here.
            names[:] = [name for name in names if name == "modules"]


def ground_of(project: Project, *doors: str) -> Ground:
    """Where the wall around a project stands."""
    return Ground(loaded=project.loaded, database=project.database, environ=os.environ, doors=doors)


def open_fence(folder: str) -> Fence | None:
    """Around a checkout in which everything may be written."""
    top = top_of(folder)
    if top is None:
        return None
    git_dir, common_dir = layout(top)
    places = [
        Place(path=path, access=Access.WRITE, why="checkout") for path in (top, git_dir, common_dir)
    ]
    return Fence(top=top, git=common_dir, git_dir=git_dir, home="", places=tuple(places))


def walls_for(
    project: Project, agents: Sequence[Agent], executor: Processes
) -> Callable[[ExitStack, str], tuple[Wall, Captures]]:
    """How to put a wall around the checkout, and Ralph's own git behind it. Found out before
    anything is touched: where there is no sandbox, there is no run."""
    mode = project.loaded.config.sandbox.mode
    if mode == "off" or all(agent.traits.says_sandbox_off for agent in agents):
        list_projects(project.root, os.environ)
        state = ground_of(project).state
        return lambda *_: (NoWall(open_fence, state), executor)
    sandbox, weaker = a_sandbox(ground_of(project), executor)

    def build(stack: ExitStack, door: str) -> tuple[Wall, Captures]:
        wall = stack.enter_context(wall_of(ground_of(project, door), sandbox, weaker))
        return wall, our_git(executor, wall, project.state)

    return build
