"""Everything that a run needs, put together."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TextIO

import msgspec

from ralph.adapters.agents.homes import SessionHomes
from ralph.adapters.executor.awake import awake_command
from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.identity import is_alive
from ralph.adapters.executor.own_command import with_ralph
from ralph.adapters.executor.own_output import output_files
from ralph.adapters.executor.processes import Processes
from ralph.adapters.executor.signals import Signals
from ralph.adapters.library.folder import FolderLibrary
from ralph.adapters.library.lessons import FileLessons
from ralph.adapters.sandbox.searching import Outside
from ralph.adapters.workspace.exclude import literally
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.known_projects import is_project
from ralph.adapters.workspace.lock import CheckoutLock
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.stock import Stock
from ralph.adapters.workspace.throw_away import ThrowAway
from ralph.core.errors import RalphError
from ralph.documents.project_files import IGNORED
from ralph.engine.control import is_called_off, show_wait
from ralph.engine.kit import Kit, Settings
from ralph.engine.views import Views
from ralph.inside.door import SocketDoor
from ralph.ports.agent import Agent
from ralph.ports.executor import Captures
from ralph.ports.person import Person
from ralph.ports.sandbox import Wall
from ralph.ports.sink import Sink
from ralph.ports.store import Store
from ralph.ui.team_files import TeamFiles
from ralph.wiring.agents import find_agents, find_reviewers, find_verifiers
from ralph.wiring.callers import a_person, with_news
from ralph.wiring.checkouts import checkouts_of, clear_stale_locks
from ralph.wiring.damage import as_damage
from ralph.wiring.programs import search_path
from ralph.wiring.project import Project, guardrails_of, open_library, open_store
from ralph.wiring.retention import clean_up
from ralph.wiring.screen import screen_of
from ralph.wiring.settings import find_target, log_paths, new_run, settings_of
from ralph.wiring.views import views_of
from ralph.wiring.walls import ground_of, walls_for

BuildWall = Callable[[ExitStack, str], tuple[Wall, Captures]]
"""How to put a wall around a checkout, and Ralph's own git behind it."""

DOOR_PATIENCE_S = 2.0
"""How long the loop waits, on behalf of a session, for others who write the same file."""


Chosen = str | None | Callable[[Store], str]
"""A target by its name, or whoever makes it: only when no other run is at work here, whose tasks it
might disturb."""


class Foundation(msgspec.Struct, frozen=True, kw_only=True):
    """What is found out before anything is touched: where there is no agent and no sandbox, there
    is no run."""

    project: Project
    clock: SystemClock
    executor: Processes
    path: str
    """Where programs are looked for that run without a wall."""
    agents: tuple[Agent, ...]
    absent: tuple[str, ...]
    verifiers: tuple[Agent, ...]
    reviewers: tuple[Agent, ...]
    build: BuildWall
    store: Store

    @property
    def everyone(self) -> tuple[Agent, ...]:
        """Whoever may have a session."""
        return (*self.agents, *self.verifiers, *self.reviewers)


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """A kit, and what else is made of its parts."""

    kit: Kit
    git: Captures
    """Ralph's own, behind the wall."""
    home: InPlace
    """The person's own checkout."""
    preparation: Preparation


def lay_foundation(stack: ExitStack, project: Project) -> Foundation:
    """In the order in which a person wants to hear of what is missing."""
    clock = SystemClock()
    executor = Processes(clock)
    stack.callback(executor.close)
    path = search_path(ground_of(project))
    agents, absent = find_agents(project)
    verifiers = find_verifiers(project, agents)
    reviewers = find_reviewers(project, agents)
    build = walls_for(project, (*agents, *verifiers, *reviewers), executor)
    store = open_store(project)
    stack.callback(store.close)
    return Foundation(
        project=project,
        clock=clock,
        executor=executor,
        path=path,
        agents=agents,
        absent=absent,
        verifiers=verifiers,
        reviewers=reviewers,
        build=build,
        store=store,
    )


def put_together(
    stack: ExitStack,
    found: Foundation,
    settings: Settings,
    *,
    sink: Sink,
    interrupted: Callable[[], str | None],
    person: Person | None = None,
    views: Views | None = None,
) -> Assembled:
    """The wall goes up, and everything is joined."""
    project, executor = found.project, found.executor
    lessons = FileLessons(
        lambda: FolderLibrary(kit.workspace.path, patience_s=DOOR_PATIENCE_S),
        guardrails_of(project),
    )
    door = SocketDoor(found.store, executor, lessons)
    stack.callback(door.close)
    wall, git = found.build(stack, door.directory)
    workspace = InPlace(git, project.root)
    runs = os.path.relpath(project.runs_dir, project.root)
    logs = log_paths(project)
    workspace.hide((*IGNORED, f"{runs}/", *map(literally, logs)))
    workspace.overlook((*(os.path.join(project.root, path) for path in logs), *output_files()))
    env = with_ralph(settings.env, project.tools)
    prepared = project.loaded.config.workspace
    preparation = Preparation(
        project.root,
        include=prepared.include,
        setup=prepared.setup,
        stock=Stock(os.path.join(project.state, ".tmp", "stock"), prepared.reuse, prepared.setup),
        env=env,
        executor=executor,
        wall=wall,
        tick=lambda: is_called_off(kit),
    )
    kit = Kit(
        settings=msgspec.structs.replace(
            settings, env=env, memory_path=_memory_path(settings, project, workspace)
        ),
        store=found.store,
        agents=found.agents,
        workspace=workspace,
        executor=executor,
        clock=found.clock,
        sink=sink,
        door=door,
        homes=SessionHomes(os.path.join(project.state, ".tmp"), os.environ),
        wall=wall,
        checkouts=ThrowAway(git, workspace, folder=checkouts_of(project), preparation=preparation),
        verifiers=found.verifiers,
        reviewers=found.reviewers,
        library=open_library(project),
        interrupted=interrupted,
        is_alive=is_alive,
        person=person,
        views=views,
    )
    kit.library_at = FolderLibrary
    kit.as_damage = lambda error: as_damage(error, project.database)
    kit.is_project = lambda folder: is_project(os.path.join(workspace.top, folder), os.environ)

    def sync() -> None:
        # A team works in checkouts of its own, and merges into the person's repository.
        for place in dict.fromkeys((kit.workspace, workspace)):
            place.sync()

    found.store.before_mark = sync
    executor.show_wait = lambda why, seconds: show_wait(kit, why, seconds)
    return Assembled(kit=kit, git=git, home=workspace, preparation=preparation)


@contextmanager
def assemble(
    project: Project,
    target: Chosen,
    stdout: TextIO,
    *,
    json: bool,
    color: str,
    again: str = "ralph run",
) -> Iterator[Kit]:
    """All of it; taken apart again at the end. `again` is the command that goes on with it."""
    with ExitStack() as stack:
        made = assemble_run(stack, project, target, stdout, json=json, color=color, again=again)
        yield made.kit


def assemble_run(
    stack: ExitStack,
    project: Project,
    target: Chosen,
    stdout: TextIO,
    *,
    json: bool,
    color: str,
    again: str = "ralph run",
    others_s: float = 0.0,
) -> Assembled:
    """A run of its own, with a screen and whoever else is told: the only one in its checkout.
    `others_s`: how much longer it may take to end, since others have to end first."""
    found = lay_foundation(stack, project)
    executor, store = found.executor, found.store
    stack.callback(_clean_up, project, store)
    run_id = new_run(store, found.clock)
    git_dir = InPlace(Outside(executor, found.path), project.root).git_dir
    lock = stack.enter_context(CheckoutLock(git_dir, run_id))
    told = [
        f"a git that was killed has left a lock; it is {aside} now"
        for aside in clear_stale_locks(project, lock.died_since)
    ]
    goal = find_target(store, target(store) if callable(target) else target)
    settings = settings_of(project, run_id, goal, found.everyone, found.absent)
    signals = stack.enter_context(Signals(executor))
    signals.limit_s += others_s
    sink = screen_of(project, store, goal, stdout, found.clock, json=json, color=color, again=again)
    sink = TeamFiles(sink, FolderLibrary(project.root), found.clock)
    sink, silent = with_news(project.loaded, sink, run_id, executor, stdout, path=found.path)
    stack.callback(sink.close)
    signals.last_deed = sink.close
    if stay_awake := awake_command(found.path):
        executor.keep(stay_awake)
    made = put_together(
        stack,
        found,
        msgspec.structs.replace(settings, warnings=(*told, *silent)),
        sink=sink,
        interrupted=lambda: signals.interrupted,
        person=a_person(executor, sink, signals.forgive, stdout) if not json else None,
        views=views_of(project, store, open_library(project)),
    )
    branch = project.loaded.config.git.branch
    if branch and (change := made.home.go_to(branch)):
        kit = made.kit
        kit.settings = msgspec.structs.replace(
            kit.settings, warnings=(*kit.settings.warnings, change)
        )
    return made


def _clean_up(project: Project, store: Store) -> None:
    """What is not kept for longer goes when the run is over; whoever asks sees what went."""
    with suppress(RalphError, OSError):
        clean_up(project, store)


def _memory_path(settings: Settings, project: Project, workspace: InPlace) -> str:
    """Where sessions leave what the next one needs; nowhere, if that is a file of the project."""
    path = settings.memory_path
    is_there = bool(path) and os.path.lexists(os.path.join(project.root, path))
    return "" if is_there and workspace.tracks(path) else path
