"""Build the sandbox of a checkout from the project's rules and a sandbox mechanism."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import msgspec

from ralph.adapters.agents.session_homes import SessionHomes
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.sandbox.checkout_sandbox import (
    ActiveSandbox,
    NoSandbox,
    choose_sandbox,
)
from ralph.adapters.sandbox.inspection import (
    SandboxDescription,
    SelfTestResult,
    describe_sandbox,
    run_self_test,
)
from ralph.adapters.sandbox.linux_sandboxes import Bubblewrap
from ralph.adapters.sandbox.own_commands import SandboxedRunner, ServedRunner
from ralph.adapters.sandbox.required_paths import module_folders, ralph_code_in, separate_modules
from ralph.adapters.workspace.known_projects import list_projects
from ralph.config.project import Project
from ralph.core.errors import Unavailable
from ralph.core.sandbox_rules import (
    ALLOWED_BY_SETTINGS,
    DOCUMENTS,
    FOLDERS,
    RALPH_REFS,
    Access,
    NetworkAccess,
    PathRule,
    SandboxRules,
    is_inside,
)
from ralph.files import walk
from ralph.git_layout import find_layout, top_of
from ralph.ports.agent import AgentTraits
from ralph.ports.executor import CommandRunner, Executor
from ralph.ports.sandbox import CheckoutSandbox, Sandbox
from ralph.wiring.killed_run_cleanup import watcher_command
from ralph.wiring.processes import open_executor
from ralph.wiring.project_sandbox import ProjectSandbox, session_environment

ChosenSandbox = tuple[Sandbox, str]
"""A sandbox that starts here, and why it is not a better one."""


def find_sandbox(project: Project, executor: CommandRunner) -> ChosenSandbox:
    """The sandbox for this machine; an error if there is none."""
    _check_owner(project.root)
    project_sandbox = ProjectSandbox(project=project)
    _check_top(project_sandbox.rules_for(project.root))
    return choose_sandbox(project.config.sandbox.use, executor, project_sandbox.path)


def sandbox_name(project: Project) -> str:
    """The name of the sandbox on this machine; an error that says how to get one."""
    with open_executor() as executor:
        return find_sandbox(project, executor)[0].name


def _check_owner(top: str) -> None:
    """In the sandbox root has no power over the files of other users."""
    owner, me = os.stat(top).st_uid, os.geteuid()
    if me == 0 != owner:
        raise Unavailable(
            f"{top} belongs to another user, so sessions of root could not write there",
            hint=f"run Ralph as its owner: setpriv --reuid={owner} --clear-groups ralph …",
        )


def _check_top(sandbox_rules: SandboxRules) -> None:
    """A checkout can be written, so it cannot be what must not be."""
    top = os.path.realpath(sandbox_rules.top)
    hint = "work in a checkout elsewhere"
    if top in module_folders():
        trouble = f"Python looks for modules of Ralph in {sandbox_rules.top}, where they write"
        hint = "pipx install ralphloop, and start it as `ralph` or `python -P -m ralph`"
    elif top == os.path.realpath(sandbox_rules.home):
        trouble = (
            f"{sandbox_rules.top} is your home, and what is planted there runs when you log in"
        )
    elif any(
        place.access is Access.HIDE and is_inside(top, os.path.realpath(place.path))
        for place in sandbox_rules.paths
        if place.path and not place.broad
    ):
        trouble = f"{sandbox_rules.top} lies where sessions must not look"
    else:
        return
    raise Unavailable(f"sessions need a sandbox, and {trouble}", hint=hint)


@contextmanager
def open_checkout_sandbox(
    project_sandbox: ProjectSandbox, executor: ProcessExecutor, chosen: ChosenSandbox | None = None
) -> Iterator[ActiveSandbox]:
    """The sandbox around the project's checkout, by the mechanism that was `chosen` before."""
    project = project_sandbox.project
    sandbox, weaker = chosen or find_sandbox(project, executor)
    list_projects(project.root, os.environ)
    separate_modules()
    with ActiveSandbox(
        sandbox,
        project_sandbox.rules_for,
        project.root,
        project.temp,
        sweep=executor.end_marked,
        keep_watcher=lambda: executor.start_lasting(watcher_command(project.temp)),
    ) as checkout_sandbox:
        checkout_sandbox.warnings = [
            *((weaker,) if weaker else ()),
            *checkout_sandbox.warnings,
            *(f"{sandbox.name} does not stop this: {gap}" for gap in checkout_sandbox.known_limits),
            *_unmet_settings(checkout_sandbox.sandbox_rules),
        ]
        yield checkout_sandbox


def _unmet_settings(sandbox_rules: SandboxRules) -> Iterator[str]:
    """What a person wished for, and does not get."""
    if sandbox_rules.network is NetworkAccess.PROXY and not sandbox_rules.domains:
        yield 'no domain is listed, so nothing is reached: [sandbox] domains = ["api.example.com"]'
    for place in sandbox_rules.paths:
        is_wish = place.why == ALLOWED_BY_SETTINGS and not is_inside(place.path, sandbox_rules.top)
        if is_wish and not os.path.lexists(place.path):
            yield f"{place.path} is not there, so it cannot be opened to sessions; make it first"
    for path in ralph_code_in(sandbox_rules.top):
        yield (
            f"Ralph runs from {path}, in the checkout, so sessions cannot change that;"
            " install Ralph elsewhere if they should"
        )


@contextmanager
def open_sandbox_or_none(project: Project, executor: ProcessExecutor) -> Iterator[CheckoutSandbox]:
    """The sandbox around a project's checkout, unless its settings switch it off."""
    if not project.has_sandbox:
        yield NoSandbox()
        return
    with open_checkout_sandbox(ProjectSandbox(project=project), executor) as checkout_sandbox:
        yield checkout_sandbox


BuildSandbox = Callable[[ExitStack, str], tuple[CheckoutSandbox, CommandRunner]]
"""Opens the sandbox of a run, with its control socket, and Ralph's own git in it."""


def sandbox_builder(
    project: Project, executor: ProcessExecutor, *, is_wanted: bool
) -> BuildSandbox:
    """Find the sandbox of a run before anything is touched: where there is none, there is no run.
    `is_wanted`: an agent has not switched it off."""
    if not (is_wanted and project.has_sandbox):
        list_projects(project.root, os.environ)
        return lambda *_: (
            NoSandbox(_unsandboxed_rules, project.temp, executor.end_marked),
            executor,
        )
    chosen = find_sandbox(project, executor)

    def build(stack: ExitStack, control_socket: str) -> tuple[CheckoutSandbox, CommandRunner]:
        project_sandbox = ProjectSandbox(project=project, ralph_sockets=(control_socket,))
        checkout_sandbox = stack.enter_context(
            open_checkout_sandbox(project_sandbox, executor, chosen)
        )
        return checkout_sandbox, sandboxed_git(executor, checkout_sandbox, project.state)

    return build


def _unsandboxed_rules(folder: str) -> SandboxRules | None:
    """Around a checkout in which everything may be written."""
    top = top_of(folder)
    if top is None:
        return None
    git_dir, common_dir = find_layout(top)
    places = [
        PathRule(path=path, access=Access.WRITE, why="checkout")
        for path in (top, git_dir, common_dir)
    ]
    return SandboxRules(top=top, git=common_dir, git_dir=git_dir, home="", paths=tuple(places))


def sandboxed_git(
    executor: Executor, checkout_sandbox: ActiveSandbox, state: str, *more: str
) -> CommandRunner:
    """Ralph's own git, in the same sandbox. It also writes its locks, private checkouts and
    `more`, and replaces documents, as a session cannot."""
    why = "Ralph's own git works there"
    private = os.path.join(state, "checkouts")
    folders = find_layout(checkout_sandbox.sandbox_rules.top)
    refs = os.path.join(folders.common_dir, RALPH_REFS)
    objects = (os.path.join(folders.common_dir, "objects", name) for name in ("pack", "info"))
    ours = (os.path.join(folders.git_dir, "ralph"), refs, *objects, private, *more)
    for path in ours:
        os.makedirs(path, exist_ok=True)
    written = (*ours, state, *_submodules(folders.common_dir))
    places = [PathRule(path=path, access=Access.WRITE, why=why) for path in written]
    places += [
        PathRule(path=os.path.join(state, name), access=Access.READ, why="what judges")
        for name in os.listdir(state)
        if name not in (*DOCUMENTS, *FOLDERS, ".tmp", os.path.basename(private))
        and not name.endswith(".md")
    ]
    sandbox, rules = checkout_sandbox.sandbox, checkout_sandbox.own_rules.with_paths(*places)
    runner = (
        ServedRunner(executor, sandbox.for_ourselves(), rules)
        if isinstance(sandbox, Bubblewrap)
        else SandboxedRunner(executor, sandbox, rules)
    )
    checkout_sandbox.at_end(runner.close)
    return runner


def _submodules(common_dir: str) -> Iterator[str]:
    """Where commits made in submodules of private checkouts are brought: nothing that git runs."""
    for folder, names, files in walk(os.path.join(common_dir, "modules")):
        if "HEAD" in files and "objects" in names:
            yield from (os.path.join(folder, name) for name in ("objects", "refs"))
            # Those of submodules of submodules are in here.
            names[:] = [name for name in names if name == "modules"]


class SandboxedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a single command needs to run as a session would."""

    checkout_sandbox: ActiveSandbox
    executor: ProcessExecutor
    env: Mapping[str, str]
    home: str
    """The agent's folder of configuration; empty without an agent."""


@contextmanager
def open_sandboxed_run(
    project_sandbox: ProjectSandbox, traits: AgentTraits | None = None
) -> Iterator[SandboxedRun]:
    """The sandbox around a project, and an agent's folder in it, for one command."""
    project = project_sandbox.project
    homes = SessionHomes(project.temp, os.environ)
    with open_executor() as executor, ExitStack() as stack:
        stack.callback(homes.remove)
        checkout_sandbox = stack.enter_context(open_checkout_sandbox(project_sandbox, executor))
        env, _ = session_environment(project, traits.keys if traits is not None else ())
        if traits is not None and traits.home is not None:
            env |= homes.create(traits.name, traits.home, f"run-{os.getpid()}", {})
        yield SandboxedRun(
            checkout_sandbox=checkout_sandbox, executor=executor, env=env, home=homes.folder
        )


def try_sandbox(project: Project) -> tuple[ActiveSandbox, SelfTestResult]:
    """Try to escape from the project's sandbox; also return the sandbox, closed again."""
    with open_sandboxed_run(ProjectSandbox(project=project)) as run:
        result = run_self_test(run.checkout_sandbox, run.executor, run.env)
    return run.checkout_sandbox, result


def describe_project_sandbox(project: Project) -> SandboxDescription:
    """The sandbox rules in words, and the sandbox that would enforce them."""
    project_sandbox, settings = ProjectSandbox(project=project), project.config.sandbox
    note, name = "", ""
    known_limits: tuple[str, ...] = ()
    with open_executor() as executor:
        try:
            sandbox, note = choose_sandbox(settings.use, executor, project_sandbox.path)
        except Unavailable as error:
            note = f"{error}: {error.hint}"
        else:
            name, known_limits = sandbox.name, tuple(sandbox.known_limits)
    if not project.has_sandbox:
        source = project.source("sandbox.mode")
        note = f"[sandbox] mode is off ({source}): runs use none of this"
    home = PathRule(
        path=os.path.join(project.temp, "agents", "…"),
        access=Access.WRITE,
        why="a folder for its agent, one for each session",
        planned=True,
    )
    return describe_sandbox(
        project_sandbox.rules_for(project.root).with_paths(home),
        os.environ,
        sandbox=name,
        note=note,
        known_limits=known_limits,
        secrets=session_environment(project)[1],
    )
