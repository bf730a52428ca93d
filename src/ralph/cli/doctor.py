"""Check that Ralph has everything it needs and that its data is sound.

Repairs wrong counters in the database. Exits with 1 if something has to be fixed. With --restore it
restores a lost or damaged database from a backup instead: the newest good one, or the one that you
name. The damaged file is moved aside.

examples:
  ralph doctor
  ralph doctor --restore
"""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Literal

import msgspec

from ralph.cli.command import command, option
from ralph.cli.options import YES, json_option
from ralph.cli.output import TerminalStyle, print_json
from ralph.cli.project_access import open_project
from ralph.cli.prompts import confirm
from ralph.core.errors import Busy, RalphError
from ralph.core.safe_text import one_line
from ralph.git_layout import find_unreadable, top_of
from ralph.ports.agent import Agent
from ralph.ports.executor import Command
from ralph.store.store import Store
from ralph.wiring.agents import (
    find_agent,
    find_reviewers,
    find_verifiers,
    inspect_agent,
    is_installed,
    known_agents,
    make_agent,
)
from ralph.wiring.processes import abandoned_claims, open_executor
from ralph.wiring.project import (
    Project,
    backups_of,
    find_project,
    open_store,
    sqlite_version,
)
from ralph.wiring.project_sandbox import unsandboxed_runner

MARKS = {"ok": ("✓", "32"), "warning": ("!", "33"), "failed": ("✗", "31")}
LITTLE_SPACE: Final = 1 << 30
NO_SPACE: Final = 100 << 20


@command(
    option("--restore", "BACKUP", "restore this backup, or the newest", nargs="?", const=""),
    YES,
    json_option("print an array of checks, each with state, what and way_out"),
)
def doctor(args: Namespace) -> int:
    if args.restore is not None:
        _restore(args)
        return 0
    checks = list(all_checks())
    if args.json:
        print_json(checks)
    else:
        style = TerminalStyle(args)
        for check in checks:
            mark, colour = MARKS[check.state]
            print(f"{style.paint(mark, colour)} {one_line(check.what)}")
            if check.way_out:
                print(f"    {one_line(check.way_out)}")
    return 1 if any(check.state == "failed" for check in checks) else 0


def _restore(args: Namespace) -> None:
    from ralph.wiring.database_restore import restore_database

    project = open_project()
    what = args.restore or "the newest backup"
    confirm(args, f"replacing {project.database} by {what}")
    done = restore_database(project, args.restore or None)
    if args.json:
        print_json(done)
        return
    backup = done.backup
    print(f"{project.database} is back from {backup.path}: {backup.tasks} tasks, {backup.made_at}")
    if done.aside:
        print(f"what was in its place is {done.aside} now")
    for one in done.landed:
        said = f"but commit {one.commit[:10]} is on the branch"
        if one.status:
            way_out = f"`ralph task done {one.task_id}` if nothing is left to do"
            print(f"task {one.task_id} is {one.status} in the backup, {said}; {way_out}")
        else:
            print(f"task {one.task_id} is not in the backup, {said}")


class DoctorCheck(msgspec.Struct, frozen=True):
    state: Literal["ok", "warning", "failed"]
    what: str
    way_out: str = ""


Checks = Iterator[DoctorCheck]


_ok = partial(DoctorCheck, "ok")
_warning = partial(DoctorCheck, "warning")
_failed = partial(DoctorCheck, "failed")


def all_checks() -> Checks:
    """Run all checks; those that need a project come last."""
    yield from _or_failed(_programs())
    try:
        project = find_project()
    except RalphError as error:
        yield _failed(str(error), error.hint or "fix .ralph.toml")
        return
    for check_project in PROJECT_CHECKS:
        yield from _or_failed(check_project(project))


def _or_failed(checks: Checks) -> Checks:
    """Turn an error into a failed check, so that the next checks still run."""
    from ralph.wiring.data_damage import as_data_error

    try:
        yield from checks
    except Exception as error:
        known = error if isinstance(error, RalphError) else as_data_error(error)
        if known is None:
            raise
        yield _failed(str(known), known.hint)


def _is_session() -> bool:
    return bool(os.environ.get("RALPH_SOCKET"))


def _programs() -> Checks:
    yield _ok(f"Python {sys.version.split()[0]} ({sys.executable})")
    yield _ok(f"SQLite {sqlite_version()}")


def _git(project: Project) -> Checks:
    try:
        with open_executor() as executor:
            command = Command(argv=("git", "--version"), cwd=project.root, env=os.environ)
            answer = unsandboxed_runner(project, executor).capture(command)
    except RalphError as error:
        yield _failed(f"git cannot be run: {error}", "install git 2.30 or newer")
        return
    if answer.code == 0:
        yield _ok(answer.stdout.decode(errors="replace").strip())
    else:
        yield _failed(f"git --version ends with {answer.code}", "install git again")


def _settings(project: Project) -> Checks:
    yield _ok(f"settings of {project.root}")
    for warning in project.warnings:
        yield _warning(warning, "`ralph config show` lists every setting there is")


def _gates(project: Project) -> Checks:
    from ralph.documents.gate_commands import cannot_fail
    from ralph.engine.baseline import passes_when_empty
    from ralph.wiring.gate_runner import passing_when_empty

    commands = project.config.gates.commands
    if not commands:
        yield _warning(
            "no gates are set, so nothing but a change is asked of a task",
            'add commands that must pass, such as test = "make test", below [gates]',
        )
    for name, line in commands.items():
        if why := cannot_fail(line):
            way_out = "let its exit code say whether the work is good"
            yield _failed(f"gate {name} {why}", way_out)
        else:
            yield _ok(f"gate {name}: {line}")
    if _is_session() or not commands or any(map(cannot_fail, commands.values())):
        return
    try:
        for name in passing_when_empty(project):
            way_out = "let it fail where there is nothing to check"
            yield _warning(passes_when_empty(name), way_out)
    except RalphError as error:
        yield _warning(f"the gates cannot be tried: {error}", error.hint)


def _known_agents(_: Project) -> Checks:
    known = known_agents()
    yield _ok(f"agents known: {', '.join(sorted(known))}")
    for point in known.values():
        try:
            point.load()
        except Exception as error:  # noqa: BLE001 - an agent of another author may fail in any way
            said = f"agent {point.name} cannot be loaded: {type(error).__name__}: {error}"
            yield _warning(said, f"fix or remove {point.value}")


def _used_agents(project: Project) -> Checks:
    try:
        agent = find_agent(project)
    except RalphError as error:
        yield _warning(f"no run is possible yet: {error}", error.hint)
    else:
        yield from _agent(project, agent, "runs use")
    for key, use, find in (
        ("verify.agent", "work is checked by", find_verifiers),
        ("review.agent", "work is reviewed by", find_reviewers),
    ):
        try:
            for agent in find(project, ()):
                yield from _agent(project, agent, use)
        except RalphError as error:
            yield _failed(f"{key}: {error}", error.hint)
    for name in project.config.agent.fallback:
        try:
            agent = make_agent(project, name)
        except RalphError as error:
            yield _failed(f"agent.fallback: {error}", error.hint)
        else:
            if is_installed(agent):
                yield from _agent(project, agent)
            else:
                yield _warning(f"{name} cannot step in: not installed", agent.traits.install_hint)


def _agent(project: Project, agent: Agent, use: str = "") -> Checks:
    if use:
        yield _ok(f"{use} the agent {agent.traits.name}")
    if not agent.traits.program:
        return
    with open_executor() as executor:
        seen = inspect_agent(agent, executor, project)
    if seen.path is None:
        yield _failed(f"{seen.program} is not installed", seen.install_hint)
        return
    yield _ok(f"{seen.name} {seen.version} ({seen.path})")
    if seen.account.logged_in is False:
        yield _warning(f"{seen.name}: {seen.account.name}", seen.login_hint)
    else:
        yield _ok(f"{seen.name} is paid by {seen.account.name}")
    probe = f"`ralph agents probe {seen.name}` runs a tiny session to find out"
    record = seen.record
    if record is None:
        yield _warning(f"{seen.name} {seen.version} was never probed", probe)
    elif seen.is_outdated:
        said = f"{seen.name} was probed in version {record.version}, now it is {seen.version}"
        yield _warning(said, probe)
    elif not record.works:
        yield _warning(f"{seen.name} failed its probe: {record.trouble}", probe)
    else:
        said = f"{seen.name} works: probed {record.probed_at[:10]}, {record.duration_s:.1f} s"
        commits = "commits" if record.commits else "cannot commit"
        kinds = ", ".join(sorted(record.events))
        yield _ok(f"{said}, exit code {record.exit_code}, {commits}; reports {kinds}")


def _repository(project: Project) -> Checks:
    top = top_of(project.root)
    if top is None:
        yield _failed(f"{project.root} is not in a git repository", "git init")
    elif found := find_unreadable(top):
        yield _failed(found, "remove it, or restore the file that was there")
    else:
        yield _ok(f"git repository {top}")


def _locks(project: Project) -> Checks:
    from ralph.wiring.git_access import git_locks

    locks = git_locks(project)
    for lock in locks:
        said = f"lock {one_line(lock.path)}, {lock.age_s:.0f} s old"
        if lock.holder:
            yield _warning(f"{said}, is held by {lock.holder}", "let it end, or end it")
        elif lock.is_stale:
            yield _warning(f"{said}, is stale", "`ralph run` moves it aside and goes on")
        else:
            yield _warning(f"{said}: its holder is not known", "look again in a moment")
    if not locks:
        yield _ok("no lock of git's")


def _space(project: Project) -> Checks:
    from shutil import disk_usage

    free = disk_usage(project.root).free
    said = f"{free / (1 << 30):.1f} GiB of disk space left"
    if free < NO_SPACE:
        yield _failed(said, "free some: sessions and their logs need space")
    elif free < LITTLE_SPACE:
        yield _warning(said, "a night of logs may need more")
    else:
        yield _ok(said)


def _sandbox(project: Project) -> Checks:
    """Check that a session cannot escape from the sandbox."""
    from ralph.wiring.sandbox import try_sandbox

    if _is_session():
        yield _ok("this is a session: the sandbox that it runs in is not tested")
        return
    if not project.has_sandbox:
        source = project.source("sandbox.mode")
        said = f"sessions run without a sandbox: [sandbox] mode is off ({source})"
        yield _warning(said, 'mode = "required" puts a sandbox around them')
        return
    sandbox, result = try_sandbox(project)
    for escape in result.escaped:
        said = f"{sandbox.name} lets a session do this: {escape}"
        if sandbox.is_fallback:
            # That a weaker sandbox does not stop all of it is known.
            yield _warning(said, "use bubblewrap")
        else:
            yield _failed(said, "do not run agents here; report this")
    for broken in result.broken:
        yield _failed(f"in {sandbox.name} a session cannot {broken}", "look at that folder")
    for warning in sandbox.warnings:
        yield _warning(warning, "`ralph sandbox show` says what sessions may do")
    if not (result.escaped or result.broken):
        yield _ok(f"{sandbox.name}: {result.tried} ways through the sandbox tried, none is open")


def _database(project: Project) -> Checks:
    if not _is_session() and not project.store_address:
        yield from _backups(project)
        backups_of(project).check_file(project.database)
        if not os.path.lexists(project.database):
            yield _warning(f"there is no database {project.database}", "ralph init makes one")
            return
    with open_store(project) as store:
        yield from _contents(store, project.store_name)
        if not _is_session():
            yield from _commits(project, store)


def _backups(project: Project) -> Checks:
    copies = backups_of(project).copies()
    for one in copies:
        said = f"backup {one.path}, {one.made_at}"
        if one.trouble:
            yield _warning(f"{said}: {one.trouble}", "remove it; a run makes a new one")
        else:
            yield _ok(f"{said}: whole, {one.tasks} tasks")
    if not copies:
        yield _ok("no backup of the database yet; a run makes one")


def _contents(store: Store, path: str) -> Checks:
    wrong = store.check()
    for line in wrong:
        yield _failed(line, "what could be repaired was; `ralph doctor` again shows the rest")
    if not wrong:
        yield _ok(f"database {path}: whole, edges and counters right")
    dead = abandoned_claims(store)
    for stale in dead:
        said = f"task {stale.task.id} is claimed by {stale.task.claimed_by}, which is gone"
        yield _warning(said, "`ralph run` gives it back and goes on")
    if not dead:
        yield _ok("no claim without a living worker")


def _commits(project: Project, store: Store) -> Checks:
    from ralph.engine.crash_recovery import recent_commits
    from ralph.wiring.git_access import open_branch_history

    made = recent_commits(store)
    if not made:
        return
    try:
        with open_branch_history(project) as history:
            lost = history.lost_commits([*made])
    except Busy:
        return  # a run is at work, and has looked itself
    for commit in lost.broken:
        task = made[commit].task_id
        said = f"commit {commit[:10]} of task {task}, which is done, is missing or broken"
        yield _failed(said, "`ralph run` opens the task again")
    for commit in lost.unreachable:
        said = f"commit {commit[:10]} of task {made[commit].task_id} is on no branch any more"
        yield _warning(said, f"`git branch NAME {commit[:10]}` keeps it")
    if not lost.broken:
        yield _ok(f"the newest {len(made)} commits of done tasks are whole")


PROJECT_CHECKS: Final[tuple[Callable[[Project], Checks], ...]] = (
    _git,
    _settings,
    _gates,
    _known_agents,
    _used_agents,
    _repository,
    _locks,
    _space,
    _sandbox,
    _database,
)
