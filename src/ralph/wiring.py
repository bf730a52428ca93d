"""The only place where the parts meet."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

import msgspec

from ralph.config.load import Loaded, load, load_anywhere
from ralph.core.errors import Missing
from ralph.ports.store import Store

if TYPE_CHECKING:
    # Commands that only touch tasks must not pay for the engine.
    from importlib.metadata import EntryPoint

    from ralph.adapters.executor.processes import Processes
    from ralph.core.brief import Telling
    from ralph.core.gates import Gate
    from ralph.core.models import Preferences
    from ralph.core.prices import Price
    from ralph.core.target import Target
    from ralph.engine.kit import Kit, Settings
    from ralph.ports.agent import Agent
    from ralph.ports.clock import Clock
    from ralph.ports.executor import Captures
    from ralph.ports.library import Lessons, Library
    from ralph.ports.sandbox import Wall
    from ralph.ports.sink import Sink
    from ralph.walls import Ground
    from ralph.workflows.probe import Probe

DOOR_PATIENCE_S = 2.0
"""How long the loop waits, on behalf of a session, for others who write the same file."""
WELL_KNOWN = ("codex", "claude", "droid")
"""Without a choice, the first of these that is installed does the work."""


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A folder with a `.ralph.toml`, and what it says."""

    root: str
    loaded: Loaded

    @property
    def state(self) -> str:
        """Where Ralph keeps what it knows."""
        return os.path.join(self.root, ".ralph")

    @property
    def runs_dir(self) -> str:
        """Where logs, briefs and streams go."""
        return os.path.join(self.state, "runs")

    @property
    def database(self) -> str:
        """`RALPH_DB` lets several checkouts share a store."""
        return os.environ.get("RALPH_DB") or os.path.join(self.state, "progress.db")


def find_project(flags: Mapping[str, object] | None = None) -> Project:
    """The project around the current directory."""
    loaded = load(_here(), os.environ, flags or {})
    return Project(root=loaded.root, loaded=loaded)


def find_project_if_any(flags: Mapping[str, object] | None = None) -> Project:
    """The same for what belongs to the machine: without a project, the environment's settings."""
    loaded = load_anywhere(_here(), os.environ, flags or {})
    return Project(root=loaded.root, loaded=loaded)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise Missing("the current directory is gone", hint="cd to one that exists") from error


def open_store(project: Project) -> Store:
    """The store; inside a session the running loop answers for it."""
    if os.environ.get("RALPH_SOCKET"):
        from ralph.adapters.store.remote import RemoteStore

        return RemoteStore(os.environ["RALPH_SOCKET"], os.environ.get("RALPH_TOKEN", ""))
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.store.sqlite import SqliteStore

    return SqliteStore.open(project.database, SystemClock())


def open_library(project: Project) -> "Library":
    """The project's own files."""
    from ralph.adapters.library.folder import FolderLibrary

    return FolderLibrary(project.root)


def open_lessons(project: Project) -> "Lessons":
    """Where guardrails are written down; inside a session the running loop does it."""
    if os.environ.get("RALPH_SOCKET"):
        from ralph.adapters.store.remote import RemoteStore

        return RemoteStore(os.environ["RALPH_SOCKET"], os.environ.get("RALPH_TOKEN", ""))
    from ralph.adapters.library.lessons import FileLessons

    return FileLessons(open_library(project))


def known_agents() -> "dict[str, EntryPoint]":
    """Every agent that is a part of Ralph or is installed beside it, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="ralph.agents")}


def find_agents(project: Project) -> "tuple[tuple[Agent, ...], tuple[str, ...]]":
    """The agent that does the work and those that step in while it is out of quota; a line about
    each that cannot, since it is not installed."""
    from ralph.core.errors import Unavailable

    first = find_agent(project)
    if not is_installed(first):
        traits = first.traits
        raise Unavailable(f"{traits.program} is not installed", hint=traits.install_hint)
    named = (make_agent(project, name) for name in project.loaded.config.agent.fallback)
    others = {one.traits.name: one for one in named if one.traits.name != first.traits.name}
    there = tuple(one for one in others.values() if is_installed(one))
    absent = tuple(
        f"{name} cannot step in, since it is not installed: {one.traits.install_hint}"
        for name, one in others.items()
        if one not in there
    )
    return (first, *there), absent


def find_agent(project: Project) -> "Agent":
    """The agent that does the work: by name, or the first of the well-known ones installed."""
    from ralph.core.errors import Unavailable

    config = project.loaded.config.agent
    if config.name != "auto":
        return make_agent(project, config.name)
    if config.command:
        return make_agent(project, "command")
    for name in WELL_KNOWN:
        agent = make_agent(project, name)
        if is_installed(agent):
            return agent
    raise Unavailable(
        f"no agent is installed; looked for {', '.join(WELL_KNOWN)}",
        hint="`ralph agents list` says how to get one;"
        ' or set [agent] command = "my-agent {prompt}" in .ralph.toml',
    )


def make_agent(project: Project, name: str) -> "Agent":
    """One agent. A person's own command line for it, in `agents.sh`, wins over what we know."""
    from ralph.config.sources import nearest
    from ralph.core.errors import Unavailable
    from ralph.ports.agent import Agent, Setup

    loaded, known = project.loaded, known_agents()
    own = loaded.own_command(name)
    if not own and name not in known:
        raise Unavailable(
            f"there is no agent {name!r}{nearest(name, list(known))};"
            f" known agents: {', '.join(sorted(known))}",
            hint='set [agent] command = "…" in .ralph.toml, or AGENT_CMD="my-agent {prompt}"',
        )
    config = loaded.config.agent
    setup = Setup(
        name=name if own else "",
        command=own or config.command,
        interactive=loaded.own_command(f"{name}_interactive") or config.interactive,
        directory=project.root,
    )
    agent: Agent = known["command" if own else name].load()(setup)
    return agent


def is_installed(agent: "Agent") -> bool:
    """Can its program be found? One without a name of its own is found out when it is started."""
    from shutil import which

    return not agent.traits.program or which(agent.traits.program) is not None


def session_variables(project: Project, agent: "Agent") -> dict[str, str]:
    """What a session of an agent inherits of this environment."""
    from ralph.core.environment import inherited

    return inherited(os.environ, project.loaded.config.agent.pass_env, agent.traits.keys)[0]


@contextmanager
def a_probe(project: Project, agent: "Agent", warn: "Callable[[str], object]") -> "Iterator[Probe]":
    """What a probe of an agent needs, in a folder that is gone afterwards."""
    from tempfile import TemporaryDirectory

    from ralph.adapters.agents.homes import SessionHomes
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.adapters.executor.signals import Signals
    from ralph.workflows.probe import Probe

    clock = SystemClock()
    executor = Processes(clock)
    with TemporaryDirectory(prefix="ralph-probe-") as folder, Signals(executor) as signals:
        checkout = os.path.join(folder, "checkout")
        os.mkdir(checkout)
        try:
            yield Probe(
                executor=executor,
                clock=clock,
                homes=SessionHomes(os.path.join(folder, "homes"), os.environ),
                env=session_variables(project, agent),
                folder=checkout,
                as_root=os.geteuid() == 0,
                models=_probed_on(project, agent.traits.name),
                interrupted=lambda: signals.interrupted,
                walls=lambda: _wall_at(checkout, project, executor),
                warn=warn,
            )
        finally:
            executor.close()


@contextmanager
def _wall_at(folder: str, project: Project, executor: "Processes") -> "Iterator[Wall]":
    """As a project's sessions have it, around another folder."""
    from ralph.adapters.sandbox.wall import NoWall
    from ralph.walls import Ground, a_sandbox, wall_of

    config = project.loaded.config
    if config.sandbox.mode == "off":
        yield NoWall()
        return
    loaded = Loaded(root=folder, config=config, sources={})
    ground = Ground(loaded=loaded, database=os.path.join(folder, ".db"), environ=os.environ)
    with wall_of(ground, *a_sandbox(loaded, executor)) as wall:
        yield wall


def _probed_on(project: Project, agent: str) -> "Preferences":
    from ralph.core.errors import RalphError

    models = preferences(project)
    try:
        is_chosen = find_agent(project).traits.name == agent
    except RalphError:
        is_chosen = False
    # The name of a model is meant for the agent that does the work here, and no other knows it.
    return models if is_chosen else msgspec.structs.replace(models, model="")


def ground_of(project: Project, *doors: str) -> "Ground":
    """Where the wall around a project stands."""
    from ralph.walls import Ground

    return Ground(loaded=project.loaded, database=project.database, environ=os.environ, doors=doors)


@contextmanager
def assemble(
    project: Project, target: str | None, stdout: TextIO, *, json: bool, color: str
) -> Iterator["Kit"]:
    """Everything that a run needs, put together; taken apart again at the end."""
    from ralph.adapters.agents.homes import SessionHomes
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.identity import is_alive
    from ralph.adapters.executor.processes import Processes
    from ralph.adapters.executor.signals import Signals
    from ralph.adapters.library.folder import FolderLibrary
    from ralph.adapters.library.lessons import FileLessons
    from ralph.adapters.workspace.in_place import InPlace
    from ralph.adapters.workspace.lock import CheckoutLock
    from ralph.documents.project_files import IGNORED
    from ralph.engine.kit import Kit
    from ralph.inside.door import SocketDoor

    clock = SystemClock()
    with ExitStack() as stack:
        executor = Processes(clock)
        stack.callback(executor.close)
        git_dir = InPlace(executor, project.root).git_dir
        agents, absent = find_agents(project)
        build = _walls(project, agents, executor)
        store = open_store(project)
        stack.callback(store.close)
        settings = _settings(project, find_target(store, target), clock, agents, absent)
        stack.enter_context(CheckoutLock(git_dir, settings.run_id))
        signals = stack.enter_context(Signals(executor))
        lessons = FileLessons(FolderLibrary(project.root, patience_s=DOOR_PATIENCE_S))
        door = SocketDoor(store, executor, lessons)
        stack.callback(door.close)
        wall, git = build(stack, door.directory)
        workspace = InPlace(git, project.root)
        workspace.hide(IGNORED)
        sink = _screen(project, store, settings.target, stdout, clock, json=json, color=color)
        stack.callback(sink.close)
        signals.last_deed = sink.close
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
            library=open_library(project),
            interrupted=lambda: signals.interrupted,
            is_alive=is_alive,
        )


def _walls(
    project: Project, agents: "Sequence[Agent]", executor: "Processes"
) -> "Callable[[ExitStack, str], tuple[Wall, Captures]]":
    """How to put a wall around the checkout, and Ralph's own git behind it. Found out before
    anything is touched: where there is no sandbox, there is no run."""
    from ralph.adapters.sandbox.wall import NoWall

    mode = project.loaded.config.sandbox.mode
    if mode == "off" or all(agent.traits.says_sandbox_off for agent in agents):
        return lambda *_: (NoWall(), executor)
    from ralph.walls import a_sandbox, our_git, wall_of

    sandbox, weaker = a_sandbox(project.loaded, executor)

    def build(stack: ExitStack, door: str) -> "tuple[Wall, Captures]":
        wall = stack.enter_context(wall_of(ground_of(project, door), sandbox, weaker))
        return wall, our_git(executor, wall, project.state)

    return build


def find_target(store: Store, name: str | None) -> "Target":
    """A feature's name, a task's id or alias, or nothing for everything."""
    from ralph.core.target import Everything, OneFeature, Subtree

    if name is None:
        return Everything()
    feature = store.feature(name)
    if feature is not None:
        return OneFeature(feature.id, feature.name)
    return Subtree(store.find(name).id)


def _settings(
    project: Project,
    target: "Target",
    clock: "Clock",
    agents: "tuple[Agent, ...]",
    absent: tuple[str, ...],
) -> "Settings":
    from secrets import token_hex
    from time import localtime, strftime

    from ralph.adapters.executor.identity import this_process
    from ralph.core.duration import seconds
    from ralph.core.ids import RunId, worker_id
    from ralph.core.limits import Limits
    from ralph.core.order import Schedule
    from ralph.engine.kit import Settings
    from ralph.ports.executor import Timeouts
    from ralph.walls import session_environment

    config = project.loaded.config
    keys = [key for agent in agents for key in agent.traits.keys]
    env, dropped = session_environment(project.loaded, os.environ, keys)
    tag = strftime("%Y%m%d-%H%M%S", localtime(clock.now()))
    by_path = config.execution.schedule == "critical-path"
    return Settings(
        run_id=RunId(f"{tag}-{os.getpid()}"),
        worker=worker_id(token_hex(4)),
        owner=this_process(),
        runs_dir=project.runs_dir,
        env=env,
        dropped=dropped,
        absent=absent,
        target=target,
        schedule=Schedule.CRITICAL_PATH if by_path else Schedule.PRIORITY,
        gates=honest_gates(project),
        gate_timeout_s=seconds(config.timeouts.gate),
        timeouts=Timeouts(
            hard_s=seconds(config.timeouts.session),
            idle_s=seconds(config.timeouts.idle),
            after_result_s=seconds(config.timeouts.after_result),
        ),
        limits=Limits(
            iterations=config.execution.limit,
            run_s=seconds(config.timeouts.run),
            failures=config.breaker.failures,
            stagnation=config.breaker.stagnation,
        ),
        commit=config.git.commit,
        fail_fast=config.execution.fail_fast,
        as_root=os.geteuid() == 0,
        budget_hard=config.budget.hard,
        session_usd=config.budget.session_usd,
        max_turns=config.agent.max_turns,
        max_retries=_flag(project, "execution.max_retries", config.execution.max_retries),
        models=preferences(project),
        prices=_prices(project),
        telling=telling(project),
    )


def telling(project: Project) -> "Telling":
    """How much sessions are told."""
    from ralph.core.brief import Telling

    config = project.loaded.config
    return Telling(
        room=config.context.brief_tokens,
        memory=config.memory.enabled,
        memory_room=config.memory.budget_tokens,
        learn=config.execution.learn,
        specs=config.specs.dirs,
    )


def preferences(project: Project) -> "Preferences":
    """What is said about models."""
    from ralph.core.models import Preferences, Strategy

    models = project.loaded.config.models
    return Preferences(strategy=Strategy(models.strategy), model=models.model, tiers=models.tiers)


def _prices(project: Project) -> "dict[str, Price]":
    from ralph.core.prices import Price

    prices = project.loaded.config.prices
    return {
        model: Price(input=price.input, cached=price.cached, output=price.output)
        for model, price in prices.items()
    }


def _flag(project: Project, key: str, value: int) -> int | None:
    """The value if it was given on the command line; else each task has its own."""
    return value if project.loaded.source(key).kind == "flag" else None


def honest_gates(project: Project) -> "tuple[Gate, ...]":
    """The gates in order; one that cannot fail proves nothing and is refused."""
    from ralph.core.errors import BadConfig
    from ralph.core.gates import Gate
    from ralph.documents.gate_commands import cannot_fail

    gates = []
    for name, command in project.loaded.config.gates.commands.items():
        if not command.strip():
            continue
        if why := cannot_fail(command):
            raise BadConfig(
                f"{project.loaded.source(f'gates.{name}')}: gate {name} {why}",
                hint="let its exit code say whether the work is good",
            )
        gates.append(Gate(name=name, command=command))
    return tuple(gates)


def _screen(
    project: Project,
    store: Store,
    target: "Target",
    stdout: TextIO,
    clock: "Clock",
    *,
    json: bool,
    color: str,
) -> "Sink":
    from ralph.core.task import Status
    from ralph.ports.store import Filter
    from ralph.ui.board import Board, Wait
    from ralph.ui.choose import screen_for

    def upcoming() -> list[str]:
        return [f"{task.name} {task.title}" for task in store.tasks(Filter(ready=True, limit=5))]

    def waits() -> list[Wait]:
        stuck = store.tasks(Filter(statuses=frozenset({Status.PENDING, Status.BLOCKED}), limit=10))
        blockers = store.blocker_ids([task.id for task in stuck])
        return [Wait(task.name, task.title, blockers.get(task.id, ())) for task in stuck]

    board = Board(
        counts=store.counts(target), upcoming=upcoming, waits=waits, logs=project.runs_dir
    )
    return screen_for(stdout, clock=clock, board=board, json=json, color=color)
