"""Build everything that a run needs."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.session_homes import SessionHomes
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.own_process import is_alive, output_files, with_ralph
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.side_processes import awake_command
from ralph.adapters.executor.signals import Signals
from ralph.adapters.project_files.folder import FolderFiles
from ralph.adapters.project_files.guardrail_file import GuardrailFile
from ralph.adapters.sandbox.required_paths import UnsandboxedRunner
from ralph.adapters.workspace.checkout_setup import CheckoutSetup, DependencyCache
from ralph.adapters.workspace.known_projects import is_project
from ralph.adapters.workspace.locks import CheckoutLock
from ralph.adapters.workspace.task_checkouts import TemporaryClones
from ralph.adapters.workspace.uncommitted_files import literal_pattern
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import RalphError
from ralph.documents.init_files import IGNORED
from ralph.engine.brief_inputs import BriefDocumentReader
from ralph.engine.budget_tracker import BudgetTracker
from ralph.engine.control import is_cancelled, show_wait
from ralph.engine.event_log import EventLog
from ralph.engine.lease_watch import LeaseWatch
from ralph.engine.memory_file import MemoryFile
from ralph.engine.run_context import RunContext
from ralph.engine.run_settings import RunSettings
from ralph.engine.run_state import AgentPool, CheckoutState, RunState
from ralph.engine.state_files import StateFiles
from ralph.inside.control_socket import LocalControlSocket
from ralph.ports.executor import CommandRunner
from ralph.ports.sandbox import CheckoutSandbox
from ralph.ports.user_interface import EventSink, UserPrompt
from ralph.ports.workspace import Workspace
from ralph.store.store import Store
from ralph.wiring.agents import find_agents, find_reviewers, find_verifiers
from ralph.wiring.data_damage import as_data_error
from ralph.wiring.git_access import clear_stale_locks
from ralph.wiring.project import Project, guardrails_of, open_project_files, open_store
from ralph.wiring.project_sandbox import search_path
from ralph.wiring.retention import removable_files, remove_files
from ralph.wiring.run_settings import find_target, log_paths, new_run, run_settings_of
from ralph.wiring.sandbox import BuildSandbox, sandbox_builder
from ralph.wiring.screen import RunOutput, open_screen, user_prompt, with_notifications

SOCKET_PATIENCE_S = 2.0
"""How long the loop waits, on behalf of a session, for others who write the same file."""

Chosen = str | None | Callable[[Store], str]
"""A target by its name, or a function that makes it, which is called when no other run is at work
here whose tasks it might disturb."""


class RunPrerequisites(msgspec.Struct, frozen=True, kw_only=True):
    """What must exist before a run starts: agents, a sandbox, the store."""

    project: Project
    clock: SystemClock
    executor: ProcessExecutor
    path: str
    """Where programs are looked for that run without a sandbox."""
    agents: AgentPool
    absent: tuple[str, ...]
    """A line about each fallback agent that is not installed."""
    build_sandbox: BuildSandbox
    store: Store


class AssembledRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run context and the parts that other code needs."""

    ctx: RunContext
    home: UserCheckout
    """The person's own checkout."""
    preparation: CheckoutSetup


def check_prerequisites(stack: ExitStack, project: Project) -> RunPrerequisites:
    """In the order in which a person wants to hear of what is missing."""
    clock = SystemClock()
    executor = ProcessExecutor(clock)
    stack.callback(executor.close)
    path = search_path(project)
    builders, absent = find_agents(project)
    agents = AgentPool(
        builders, find_verifiers(project, builders), find_reviewers(project, builders)
    )
    is_sandboxed = not all(agent.traits.says_sandbox_off for agent in agents.all_agents)
    build_sandbox = sandbox_builder(project, executor, is_wanted=is_sandboxed)
    store = stack.enter_context(open_store(project))
    return RunPrerequisites(
        project=project,
        clock=clock,
        executor=executor,
        path=path,
        agents=agents,
        absent=absent,
        build_sandbox=build_sandbox,
        store=store,
    )


def build_context(
    stack: ExitStack,
    found: RunPrerequisites,
    settings: RunSettings,
    *,
    sink: EventSink,
    interrupted: Callable[[], str | None],
    person: UserPrompt | None = None,
    views: StateFiles | None = None,
) -> AssembledRun:
    """The sandbox goes up, and everything is joined."""
    project, executor, store = found.project, found.executor, found.store
    store.db.interrupted = interrupted
    files = open_project_files(project)
    patient = partial(FolderFiles, project.root, patience_s=SOCKET_PATIENCE_S)
    guardrails = GuardrailFile(patient, guardrails_of(project))
    control_socket = LocalControlSocket(store, executor, guardrails)
    stack.callback(control_socket.close)
    checkout_sandbox, git = found.build_sandbox(stack, control_socket.directory)
    workspace = _open_checkout(project, git)
    env = with_ralph(settings.session.env, project.tools)
    memory_path = _memory_path(settings, project, workspace)
    preparation = _checkout_setup(found, checkout_sandbox, env, lambda: is_cancelled(ctx))
    ctx = RunContext(
        settings=replace(
            settings, session=replace(settings.session, env=env, memory_path=memory_path)
        ),
        store=store,
        executor=executor,
        clock=found.clock,
        log=EventLog(store, sink, views, settings.run_id),
        control_socket=control_socket,
        homes=SessionHomes(project.temp, os.environ),
        checkout_sandbox=checkout_sandbox,
        project_files=files,
        project_files_at=FolderFiles,
        checkouts=TemporaryClones(workspace, project.checkouts, preparation),
        budget_tracker=BudgetTracker(store, found.clock, settings),
        interrupted=interrupted,
        leases=LeaseWatch(is_alive),
        is_project=lambda folder: is_project(os.path.join(workspace.top, folder), os.environ),
        as_damage=lambda error: as_data_error(error, project.database),
        state=RunState(settings.target, settings.first_iteration),
        checkout=CheckoutState(workspace, BriefDocumentReader(files, settings.guardrails)),
        agents=found.agents,
        memory_file=MemoryFile(files, store, memory_path),
        user_prompt=person,
    )
    store.db.before_checkpoint = lambda: _sync(workspace, ctx.workspace)
    executor.show_wait = lambda why, seconds: show_wait(ctx, why, seconds)
    return AssembledRun(ctx=ctx, home=workspace, preparation=preparation)


def _open_checkout(project: Project, git: CommandRunner) -> UserCheckout:
    """The person's checkout; git ignores what Ralph writes there."""
    checkout = UserCheckout(git, project.root)
    runs = os.path.relpath(project.runs_dir, project.root)
    logs = log_paths(project)
    checkout.exclude((*IGNORED, f"{runs}/", *map(literal_pattern, logs)))
    checkout.ignore_files((*(os.path.join(project.root, path) for path in logs), *output_files()))
    return checkout


def _checkout_setup(
    found: RunPrerequisites,
    checkout_sandbox: CheckoutSandbox,
    env: Mapping[str, str],
    tick: Callable[[], bool],
) -> CheckoutSetup:
    project, wanted = found.project, found.project.config.workspace
    return CheckoutSetup(
        project=project.root,
        include=wanted.include,
        setup=wanted.setup,
        dependency_cache=DependencyCache(
            os.path.join(project.temp, "dependencies"), wanted.reuse, wanted.setup
        ),
        env=env,
        executor=found.executor,
        checkout_sandbox=checkout_sandbox,
        tick=tick,
    )


def _sync(home: Workspace, now: Workspace) -> None:
    """A team works in checkouts of its own, and merges into the person's repository. That comes
    first: it holds what they borrow, and keeps what they give up."""
    for place in dict.fromkeys((home, now)):
        place.sync()


@contextmanager
def open_run(project: Project, target: Chosen, output: RunOutput) -> Iterator[RunContext]:
    """All of it; taken apart again at the end."""
    with ExitStack() as stack:
        yield assemble_run(stack, project, target, output).ctx


def assemble_run(
    stack: ExitStack,
    project: Project,
    target: Chosen,
    output: RunOutput,
    *,
    others_s: float = 0.0,
    around: Callable[[EventSink], EventSink] = lambda sink: sink,
) -> AssembledRun:
    """A run of its own, with a screen and its notifications: the only one in its checkout.
    `others_s`: how much longer it may take to end, since others have to end first. `around` puts
    another sink around the screen."""
    found = check_prerequisites(stack, project)
    executor, store = found.executor, found.store
    stack.callback(_clean_up, project, store)
    run_id = new_run(store, found.clock)
    git_dir = UserCheckout(UnsandboxedRunner(executor, found.path), project.root).git.git_dir
    lock = stack.enter_context(CheckoutLock(git_dir, run_id))
    cleared = [
        f"a git that was killed has left a lock; it is {aside} now"
        for aside in clear_stale_locks(project, lock.died_since)
    ]
    goal = find_target(store, target(store) if callable(target) else target)
    settings = run_settings_of(project, run_id, goal, found.agents, found.absent)
    signals = stack.enter_context(Signals(executor))
    signals.limit_s += others_s
    sink = open_screen(
        project, store, goal, found.clock, output, interrupted=lambda: signals.interrupted
    )
    sink, silent = with_notifications(
        project, sink, run_id, executor, output.stream, path=found.path
    )
    stack.callback(sink.close)
    signals.restore_terminal = sink.close
    executor.show_interrupt = sink.tick
    if stay_awake := awake_command(found.path):
        executor.start_lasting(stay_awake)
    is_watched = not output.json
    made = build_context(
        stack,
        found,
        replace(settings, warnings=(*settings.warnings, *cleared, *silent)),
        sink=around(sink),
        interrupted=lambda: signals.interrupted,
        person=user_prompt(executor, sink, signals.clear, output.stream) if is_watched else None,
        views=StateFiles(store, open_project_files(project), found.clock, config=project.config),
    )
    branch = project.config.git.branch
    if branch and (change := made.home.objects.check_out(branch)):
        return replace(made, ctx=made.ctx.with_warnings([change]))
    return made


def _clean_up(project: Project, store: Store) -> None:
    """Remove what is not kept for longer, when the run is over."""
    with suppress(RalphError, OSError):
        remove_files(project, removable_files(project, store))


def _memory_path(settings: RunSettings, project: Project, workspace: UserCheckout) -> str:
    """Where sessions leave what the next one needs; nowhere, if that is a file of the project."""
    path = settings.session.memory_path
    is_there = bool(path) and os.path.lexists(os.path.join(project.root, path))
    return "" if is_there and workspace.tracks(path) else path
