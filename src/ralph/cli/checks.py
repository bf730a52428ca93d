"""What `ralph doctor` looks at. Each check says what it found, and the way out where it is bad."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from ralph.core.errors import RalphError
from ralph.core.safe_text import one_line

if TYPE_CHECKING:
    from ralph.ports.agent import Agent
    from ralph.ports.claims import Stale
    from ralph.ports.executor import Captures
    from ralph.ports.store import Store
    from ralph.wiring.project import Project

LITTLE_SPACE: Final = 1 << 30
NO_SPACE: Final = 100 << 20


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    state: Literal["ok", "warning", "failed"]
    what: str
    way_out: str = ""


def all_checks() -> Iterator[Check]:
    """From the ground up; what needs a project comes last."""
    from ralph.wiring.project import find_project

    yield from _programs()
    try:
        project = find_project()
    except RalphError as error:
        yield Check("failed", str(error), error.hint or "mend .ralph.toml")
        return
    yield from _settings(project)
    yield from _gates(project)
    yield from _agents(project)
    yield _repository(project.root)
    yield from _locks(project)
    yield _space(project.root)
    yield from _wall(project)
    yield from _database(project)


def _programs() -> Iterator[Check]:
    import sqlite3

    from ralph.adapters.store.database import OLDEST

    yield Check("ok", f"Python {sys.version.split()[0]} ({sys.executable})")
    if sqlite3.sqlite_version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        yield Check(
            "failed",
            f"SQLite {sqlite3.sqlite_version} is older than {wanted}",
            "use a Python that was built with a newer one",
        )
    else:
        yield Check("ok", f"SQLite {sqlite3.sqlite_version}")
    yield _git()


def _git() -> Check:
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.wiring.programs import outside
    from ralph.wiring.project import find_project_if_any
    from ralph.wiring.walls import ground_of

    executor = Processes(SystemClock())
    ours: Captures = executor
    with suppress(RalphError):
        ours = outside(ground_of(find_project_if_any()), executor)
    try:
        answer = ours.capture(["git", "--version"], cwd=os.getcwd())
    except RalphError as error:
        return Check("failed", f"git cannot be run: {error}", "install git 2.30 or newer")
    finally:
        executor.close()
    said = answer.stdout.decode(errors="replace").strip()
    if answer.code != 0:
        return Check("failed", f"git --version ends with {answer.code}", "install git anew")
    return Check("ok", said)


def _settings(project: "Project") -> Iterator[Check]:
    yield Check("ok", f"settings of {project.root}")
    for warning in project.loaded.warnings:
        yield Check("warning", warning, "`ralph config show` lists every setting there is")


def _gates(project: "Project") -> Iterator[Check]:
    commands = {
        name: command
        for name, command in project.loaded.config.gates.commands.items()
        if command.strip()
    }
    if not commands:
        yield Check(
            "warning",
            "no gates are set, so nothing but a change is asked of a task",
            'add commands that must pass, such as test = "make test", below [gates]',
        )
        return
    from ralph.documents.gate_commands import cannot_fail

    for name, command in commands.items():
        why = cannot_fail(command)
        if why:
            yield Check(
                "failed",
                f"gate {name} {why}",
                "let its exit code say whether the work is good",
            )
        else:
            yield Check("ok", f"gate {name}: {command}")


def _agents(project: "Project") -> Iterator[Check]:
    """An agent that somebody else wrote may be broken in any way: that is what is asked here."""
    from importlib.metadata import entry_points

    from ralph.wiring.agents import find_agent

    names = sorted({point.name for point in entry_points(group="ralph.agents")})
    if names:
        yield Check("ok", f"agents known: {', '.join(names)}")
    else:
        yield Check("failed", "no agent is known", "install Ralph anew")
    for point in entry_points(group="ralph.agents"):
        try:
            point.load()
        except Exception as error:  # noqa: BLE001 - see above
            said = f"agent {point.name} cannot be loaded: {type(error).__name__}: {error}"
            yield Check("warning", said, f"mend or remove {point.value}")
    try:
        agent = find_agent(project)
    except RalphError as error:
        yield Check("warning", f"no run is possible yet: {error}", error.hint)
    else:
        yield Check("ok", f"runs use the agent {agent.traits.name}")
        if agent.traits.program:
            yield from _agent(project, agent)
    yield from _verifier(project)
    yield from _fallback(project)


def _verifier(project: "Project") -> Iterator[Check]:
    """Who checks the work, if it is not the agent that does it."""
    from ralph.wiring.agents import find_reviewers, find_verifiers

    for key, how, find in (
        ("verify.agent", "checked", find_verifiers),
        ("review.agent", "reviewed", find_reviewers),
    ):
        try:
            chosen = find(project, ())
        except RalphError as error:
            yield Check("failed", f"{key}: {error}", error.hint)
            continue
        for agent in chosen:
            yield Check("ok", f"work is {how} by the agent {agent.traits.name}")
            if agent.traits.program:
                yield from _agent(project, agent)


def _fallback(project: "Project") -> Iterator[Check]:
    from ralph.wiring.agents import is_installed, make_agent

    for name in project.loaded.config.agent.fallback:
        try:
            agent = make_agent(project, name)
        except RalphError as error:
            yield Check("failed", f"agent.fallback: {error}", error.hint)
            continue
        if not is_installed(agent):
            yield Check(
                "warning", f"{name} cannot step in: not installed", agent.traits.install_hint
            )
        elif agent.traits.program:
            yield from _agent(project, agent)


def _agent(project: "Project", agent: "Agent") -> Iterator[Check]:
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.cli.agents_seen import see

    executor = Processes(SystemClock())
    try:
        seen = see(agent, executor, project)
    finally:
        executor.close()
    if seen.path is None:
        yield Check("failed", f"{seen.program} is not installed", seen.install_hint)
        return
    yield Check("ok", f"{seen.name} {seen.version} ({seen.path})")
    if seen.account.logged_in is False:
        yield Check("warning", f"{seen.name}: {seen.account.name}", seen.login_hint)
    else:
        yield Check("ok", f"{seen.name} is paid by {seen.account.name}")
    probe = f"`ralph agents probe {seen.name}` runs a tiny session to find out"
    record = seen.record
    if record is None:
        yield Check("warning", f"{seen.name} {seen.version} was never probed", probe)
    elif seen.is_outdated:
        said = f"{seen.name} was probed in version {record.version}, now it is {seen.version}"
        yield Check("warning", said, probe)
    elif not record.works:
        yield Check("warning", f"{seen.name} failed its probe: {record.trouble}", probe)
    else:
        said = f"{seen.name} works: probed {record.probed_at[:10]}, {record.duration_s:.1f} s"
        commits = "commits" if record.commits else "cannot commit"
        kinds = ", ".join(sorted(record.events))
        yield Check("ok", f"{said}, exit code {record.exit_code}, {commits}; tells {kinds}")


def _repository(root: str) -> Check:
    from ralph.adapters.workspace.layout import top_of

    top = top_of(root)
    if top is None:
        return Check("failed", f"{root} is not in a git repository", "git init")
    return Check("ok", f"git repository {top}")


def _locks(project: "Project") -> Iterator[Check]:
    """Of git, in the repository and in the private checkouts."""
    from ralph.adapters.workspace.locks import find_locks, look_at
    from ralph.wiring.checkouts import git_dirs

    try:
        paths = [path for place in git_dirs(project) for path in find_locks(place)]
    except RalphError as error:
        yield Check("failed", str(error), error.hint)
        return
    for lock in filter(None, map(look_at, paths)):
        said = f"lock {one_line(lock.path)}, {lock.age_s:.0f} s old"
        if lock.holder:
            yield Check("warning", f"{said}, is held by {lock.holder}", "let it end, or end it")
        elif lock.is_stale:
            yield Check("warning", f"{said}, is stale", "`ralph run` moves it aside and goes on")
        else:
            yield Check("warning", f"{said}: its holder is not known", "look again in a moment")
    if not paths:
        yield Check("ok", "no lock of git's")


def _wall(project: "Project") -> Iterator[Check]:
    """Not whether it is there: whether anything gets through it."""
    from ralph.adapters.sandbox.trial import try_wall
    from ralph.wiring.walls import an_enclosure, ground_of

    if os.environ.get("RALPH_SOCKET"):
        yield Check("ok", "this is a session: whatever wall there is stands around it")
        return
    settings, source = project.loaded.config.sandbox, project.loaded.source("sandbox.mode")
    if settings.mode == "off":
        said = f"sessions run without a sandbox: [sandbox] mode is off ({source})"
        yield Check("warning", said, 'mode = "required" puts a wall around them')
        return
    try:
        with an_enclosure(ground_of(project), None) as enclosure:
            wall = enclosure.wall
            trial = try_wall(wall, enclosure.executor, enclosure.env)
            warnings = list(wall.warnings)
    except RalphError as error:
        yield Check("failed", str(error), error.hint)
        return
    for words in trial.through:
        # What a weaker wall does not stop is no news: it says so itself.
        state: Literal["warning", "failed"] = "warning" if wall.stands_in else "failed"
        way_out = "use bubblewrap" if wall.stands_in else "do not run agents here; report this"
        yield Check(state, f"{wall.name} lets a session do this: {words}", way_out)
    for words in trial.broken:
        yield Check("failed", f"behind {wall.name} a session cannot {words}", "look at that folder")
    for warning in warnings:
        yield Check("warning", warning, "docs/how-to/use-the-sandbox.md")
    if not (trial.through or trial.broken):
        yield Check("ok", f"{wall.name}: {trial.tried} ways through the wall tried, none is open")


def _space(root: str) -> Check:
    from shutil import disk_usage

    free = disk_usage(root).free
    said = f"{free / (1 << 30):.1f} GiB of disk space left"
    if free < NO_SPACE:
        return Check("failed", said, "free some: sessions and their logs need room")
    if free < LITTLE_SPACE:
        return Check("warning", said, "a night of logs may need more")
    return Check("ok", said)


def _database(project: "Project") -> Iterator[Check]:
    from ralph.wiring.project import backups_of, open_store

    is_inside = bool(os.environ.get("RALPH_SOCKET"))
    try:
        if not is_inside:
            backups_of(project).check_file(project.database)
            if not os.path.exists(project.database):
                said = f"there is no database {project.database}"
                yield Check("warning", said, "ralph init makes one")
                return
        store = open_store(project)
    except RalphError as error:
        yield Check("failed", str(error), error.hint)
        yield from _backups(project)
        return
    if not is_inside:
        yield from _backups(project)
    try:
        yield from _contents(store, project.database)
        if not is_inside:
            yield from _commits(project, store)
    except RalphError as error:
        yield Check("failed", str(error), error.hint)
    finally:
        store.close()


def _backups(project: "Project") -> Iterator[Check]:
    from ralph.wiring.project import backups_of

    copies = backups_of(project).copies()
    for one in copies:
        said = f"backup {one.path}, {one.made_at}"
        if one.trouble:
            yield Check("warning", f"{said}: {one.trouble}", "remove it; a run makes a new one")
        else:
            yield Check("ok", f"{said}: whole, {one.tasks} tasks")
    if not copies:
        yield Check("ok", "no backup of the database yet; a run makes one")


def _contents(store: "Store", path: str) -> Iterator[Check]:
    from ralph.core.ids import WorkerId

    wrong = store.check()
    for line in wrong:
        yield Check("failed", line, "what could be put right was; `ralph doctor` again tells")
    if not wrong:
        yield Check("ok", f"database {path}: whole, edges and counters right")
    dead = [stale for stale in store.stale(WorkerId("doctor")) if _is_dead(stale)]
    for stale in dead:
        yield Check(
            "warning",
            f"task {stale.task.id} is claimed by {stale.task.claimed_by}, which is gone",
            "`ralph run` gives it back and goes on",
        )
    if not dead:
        yield Check("ok", "no claim without a living worker")


def _commits(project: "Project", store: "Store") -> Iterator[Check]:
    from ralph.core.errors import Busy
    from ralph.engine.settled_commits import recent_commits
    from ralph.wiring.past import the_past

    made = recent_commits(store)
    if not made:
        return
    try:
        with the_past(project) as past:
            lost = past.lost([*made])
    except Busy:
        return  # a run is at work, and has looked itself
    for commit in lost.broken:
        task = made[commit].task_id
        said = f"commit {commit[:10]} of task {task}, which is done, is missing or broken"
        yield Check("failed", said, "`ralph run` opens the task again")
    for commit in lost.unreachable:
        said = f"commit {commit[:10]} of task {made[commit].task_id} is on no branch any more"
        yield Check("warning", said, f"`git branch NAME {commit[:10]}` keeps it")
    if not lost.broken:
        yield Check("ok", f"the newest {len(made)} commits of done tasks are whole")


def _is_dead(stale: "Stale") -> bool:
    from ralph.adapters.executor.identity import is_alive

    alive = is_alive(stale.owner) if stale.owner is not None else None
    return stale.expired if alive is None else not alive
