"""Everything that a run needs, put together."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

import msgspec

from ralph.adapters.agents.homes import SessionHomes
from ralph.adapters.executor.awake import awake_command
from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.identity import is_alive
from ralph.adapters.executor.own_command import with_ralph
from ralph.adapters.executor.processes import Processes
from ralph.adapters.executor.signals import Signals
from ralph.adapters.library.folder import FolderLibrary
from ralph.adapters.library.lessons import FileLessons
from ralph.adapters.sandbox.searching import Outside
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.lock import CheckoutLock
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.throw_away import ThrowAway
from ralph.documents.project_files import IGNORED
from ralph.engine.kit import Kit
from ralph.inside.door import SocketDoor
from ralph.ports.store import Store
from ralph.wiring.agents import find_agents, find_verifiers
from ralph.wiring.callers import a_person, with_news
from ralph.wiring.programs import search_path
from ralph.wiring.project import Project, open_library, open_store
from ralph.wiring.screen import screen_of
from ralph.wiring.settings import find_target, new_run, settings_of
from ralph.wiring.walls import ground_of, walls_for

DOOR_PATIENCE_S = 2.0
"""How long the loop waits, on behalf of a session, for others who write the same file."""


Chosen = str | None | Callable[[Store], str]
"""A target by its name, or whoever makes it: only when no other run is at work here, whose tasks it
might disturb."""


@contextmanager
def assemble(
    project: Project, target: Chosen, stdout: TextIO, *, json: bool, color: str
) -> Iterator[Kit]:
    """All of it; taken apart again at the end."""
    clock = SystemClock()
    with ExitStack() as stack:
        executor = Processes(clock)
        stack.callback(executor.close)
        path = search_path(ground_of(project))
        git_dir = InPlace(Outside(executor, path), project.root).git_dir
        agents, absent = find_agents(project)
        verifiers = find_verifiers(project, agents)
        everyone = (*agents, *verifiers)
        build = walls_for(project, everyone, executor)
        store = open_store(project)
        stack.callback(store.close)
        run_id = new_run(store, clock)
        stack.enter_context(CheckoutLock(git_dir, run_id))
        name = target(store) if callable(target) else target
        settings = settings_of(project, run_id, find_target(store, name), everyone, absent)
        signals = stack.enter_context(Signals(executor))
        lessons = FileLessons(FolderLibrary(project.root, patience_s=DOOR_PATIENCE_S))
        door = SocketDoor(store, executor, lessons)
        stack.callback(door.close)
        wall, git = build(stack, door.directory)
        workspace = InPlace(git, project.root)
        workspace.hide(IGNORED)
        sink = screen_of(project, store, settings.target, stdout, clock, json=json, color=color)
        sink, silent = with_news(project.loaded, sink, settings.run_id, executor, stdout, path=path)
        env = with_ralph(settings.env, project.tools)
        settings = msgspec.structs.replace(settings, env=env, warnings=silent)
        stack.callback(sink.close)
        signals.last_deed = sink.close
        if stay_awake := awake_command(path):
            executor.keep(stay_awake)
        preparation = Preparation(
            project.root,
            include=project.loaded.config.workspace.include,
            setup=project.loaded.config.workspace.setup,
            env=env,
            executor=executor,
            wall=wall,
        )
        yield Kit(
            settings=settings,
            store=store,
            agents=agents,
            workspace=workspace,
            executor=executor,
            clock=clock,
            sink=sink,
            door=door,
            homes=SessionHomes(os.path.join(project.state, ".tmp"), os.environ),
            wall=wall,
            checkouts=ThrowAway(
                git,
                workspace,
                folder=os.path.join(project.state, "checkouts"),
                preparation=preparation,
            ),
            verifiers=verifiers,
            library=open_library(project),
            interrupted=lambda: signals.interrupted,
            is_alive=is_alive,
            person=a_person(executor, sink, signals.forgive, stdout) if not json else None,
        )
