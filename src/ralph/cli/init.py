"""Commands that write files of a project: init, config templates, files rebuild."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ralph.cli.command import command, flag, option
from ralph.cli.options import YES, settings_of
from ralph.cli.output import TerminalStyle
from ralph.cli.project_access import open_project, project_with_store
from ralph.cli.prompts import can_ask, confirm, says_yes, typed_line
from ralph.config.project import ADDRESS
from ralph.config.store_address import save_address, shown_address
from ralph.core.errors import CannotWrite, Missing, RalphError, UsageError
from ralph.core.gate_output import headline
from ralph.core.gates import GateResult
from ralph.core.safe_text import one_line
from ralph.documents.init_files import GateLine, ignore_file, settings_file
from ralph.git_layout import top_of
from ralph.wiring.agents import WELL_KNOWN, is_installed, login_of, make_agent
from ralph.wiring.gate_runner import find_gates, try_gates
from ralph.wiring.project import (
    Project,
    accept_project,
    new_project,
    open_project_files,
    open_server_store,
    open_store,
)
from ralph.wiring.sandbox import sandbox_name

FOLDERS = (".ralph/runs", ".ralph/features", ".ralph/skills", ".ralph/specs")


@command(
    flag("--new-database", "start with an empty database where there was one"),
    option("--store", "URL|file", "keep the tasks in a PostgreSQL database, or in a file again"),
    YES,
)
def init(args: Namespace) -> None:
    """Make the current directory a Ralph project.

    Looks for agents, a sandbox and gates (commands that check the work, such as `pytest -q`), runs
    each gate once, and writes `.ralph.toml` with what it found. On a terminal it asks at most three
    questions; --yes answers them all. It also makes folders below `.ralph/`, entries in
    `.gitignore` and the database. Existing files stay as they are. Only --new-database replaces a
    lost database by an empty one; what is left of the old one is moved aside.

    --store names a PostgreSQL database, so that several machines can share the tasks. Its address
    is saved in `.git/ralph`, where sessions cannot read it. `--store file` forgets it: the tasks
    are in `.ralph/progress.db` then, as they are without this option. `ralph store copy` copies
    them.

    examples:
      ralph init
      ralph init --yes
      ralph -C packages/api init
      ralph init --new-database
      ralph init --store postgres://ralph@db.example.org/tasks
    """
    if args.new_database and top_of(os.getcwd()) is not None:
        _start_anew(args)
    if make_project(args):
        print('\nnext: ralph "what you want"')


def make_project(args: Namespace) -> bool:
    """Make the current directory a project, as far as it is none; whether anything was new."""
    root = os.getcwd()
    if top_of(root) is None:
        raise Missing(f"{root} is not in a git repository", hint="git init")
    _warn_of_project_around(root)
    try:
        made = [_folders(), _ignored(), _settings(args)]
        if accept_project(root) and not dict(made)[".ralph.toml"]:
            said = f"{root}/.ralph.toml is obeyed from now on: read it, if you have not written it"
            print(f"ralph: {said}", file=sys.stderr)
        made.append(_database(args))
    except OSError as error:
        where = error.filename or root
        raise CannotWrite(
            f"cannot write {where}: {(error.strerror or '').lower()}",
            hint="look at what is in its place, and at its permissions",
        ) from error
    for name, is_new in made:
        print(f"{'made ' if is_new else 'there'}  {name}")
    if dict(made)[".ralph.toml"]:
        print("yours to commit: .gitignore, .ralph.toml")
    return any(is_new for _, is_new in made)


def _start_anew(args: Namespace) -> None:
    from ralph.wiring.database_restore import new_database

    project = open_project()
    confirm(args, f"starting with an empty {os.path.relpath(project.database)}")
    if aside := new_database(project):
        print(f"moved  {os.path.relpath(aside)}")


def _warn_of_project_around(root: str) -> None:
    from ralph.config.toml_file import NAME, find_roots

    for around in find_roots(os.path.dirname(root))[:1]:
        said = f"{around}/{NAME} is a project too; commands in {root} will use this one"
        print(f"ralph: {said}", file=sys.stderr)


def _folders() -> tuple[str, bool]:
    is_new = not all(map(os.path.isdir, FOLDERS))
    for name in FOLDERS:
        os.makedirs(name, exist_ok=True)
    return ".ralph/", is_new


def _settings(args: Namespace) -> tuple[str, bool]:
    from ralph.config.toml_file import NAME

    if os.path.lexists(NAME):
        return NAME, False
    in_session = bool(os.environ.get("RALPH_SOCKET"))
    text = settings_file() if in_session else _explore(args)
    try:
        with open(NAME, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return NAME, False
    return NAME, True


def _explore(args: Namespace) -> str:
    """Look around, run each gate once, and return the settings that follow."""
    project, style = new_project(settings_of(args)), TerminalStyle(args)
    asks = can_ask() and not args.yes
    agent = _choose_agent(project, asks=asks)
    is_sandboxed = _has_sandbox(project, asks=asks)
    found = find_gates(project.root)
    for program, commands in found.missing.items():
        print(f"gates    left out, since {program} is not installed: {', '.join(commands)}")
    if not is_sandboxed:
        project = new_project({"sandbox.mode": "off"})
    lines = _try_gates(project, found.gates, style)
    if asks and _keeps_failing(lines):
        lines = [replace(line, is_active=True) for line in lines]
    return settings_file(lines, found.preparation, agent=agent, is_sandboxed=is_sandboxed)


def _try_gates(project: Project, gates: Mapping[str, str], style: TerminalStyle) -> list[GateLine]:
    """Run each gate once; those that fail become comments in the settings."""
    if not gates:
        print("gates    none found: only a second session checks the work")
        return []
    print(f"gates    trying {', '.join(gates)}", flush=True)
    lines: list[GateLine] = []
    try:
        for result in try_gates(project, gates):
            line = GateLine(name=result.name, command=gates[result.name])
            said = style.paint("passes", "32") if result.passed else style.paint("fails", "31")
            print(f"gate     {line.name}: {line.command}  {said} ({result.duration_s:.1f} s)")
            if not result.passed:
                why = _why_failed(result)
                print(f"         {one_line(why)}", flush=True)
                line = replace(line, remark=f"fails now: {why}", is_active=False)
            lines.append(line)
    except RalphError as error:
        print(f"gates    not tried: {error}")
        # They are no worse than none: a run tries them before it starts.
        tried = {line.name for line in lines}
        for name, command in gates.items():
            if name not in tried:
                print(f"gate     {name}: {command}  is set, and the next run tries it")
                lines.append(GateLine(name=name, command=command, remark="not tried yet"))
    return lines


def _why_failed(result: GateResult) -> str:
    if result.code is None:
        return "it does not end in time"
    return headline(tuple(result.output.splitlines())) or f"it exits with {result.code}"


def _choose_agent(project: Project, *, asks: bool) -> str:
    """The agent that the user picks; empty if there is nothing to choose."""
    if project.config.agent.command:
        print(f"agent    {one_line(project.config.agent.command, 60)}")
        return ""
    usable = []
    for agent in filter(is_installed, (make_agent(project, name) for name in WELL_KNOWN)):
        account = login_of(project, agent)
        if account.logged_in is False:
            print(f"agent    {agent.traits.name}: not logged in ({agent.traits.login_hint})")
        else:
            print(f"agent    {agent.traits.name}, paid by {account.name}")
            usable.append(agent.traits.name)
    if not usable:
        print("agent    none that is installed and logged in: `ralph agents list` says how")
    if not asks or len(usable) < 2 or project.config.agent.name != "auto":
        return ""
    print(f"Which agent does the work? {' or '.join(usable)} [{usable[0]}] ", end="", flush=True)
    said = typed_line().strip().lower()
    return said if said in usable else usable[0]


def _has_sandbox(project: Project, *, asks: bool) -> bool:
    """False only if the user wants to do without."""
    if project.config.sandbox.mode == "off":
        print("sandbox  none: it is switched off")
        return True
    try:
        print(f"sandbox  {sandbox_name(project)}")
    except RalphError as error:
        print(f"sandbox  none: {error}\n         {error.hint}")
        return not (asks and says_yes("Run sessions without a sandbox? [y/N] "))
    return True


def _keeps_failing(lines: Sequence[GateLine]) -> bool:
    failing = ", ".join(line.name for line in lines if not line.is_active)
    question = (
        f"Keep what fails now ({failing}) as a gate? It counts from the moment it passes. [y/N] "
    )
    return bool(failing) and says_yes(question)


def _ignored() -> tuple[str, bool]:
    """Append what is missing to `.gitignore`; its line ends stay as they are."""
    from ralph.files import create_regular, read_regular

    name = ".gitignore"
    before = ""
    if os.path.exists(name):
        before = read_regular(name).decode("utf-8", "surrogateescape")
    after = ignore_file(before)
    if after == before:
        return f"{name} entries", False
    with create_regular(os.path.realpath(name), os.O_APPEND) as file:
        file.write(after[len(before) :].encode("utf-8", "surrogateescape"))
    return f"{name} entries", True


def _database(args: Namespace) -> tuple[str, bool]:
    project = open_project()
    shown = os.path.relpath(project.database)
    if os.environ.get("RALPH_SOCKET"):
        return shown, False  # inside a session only the running loop writes it
    # `ralph go` makes projects, too, without this option.
    address = getattr(args, "store", None) or project.store_address
    if address == "file":
        save_address(project.root, "")
    elif address:
        return _server(project, address)
    is_new = not os.path.exists(project.database)
    with open_store(project):
        return shown, is_new


def _server(project: Project, address: str) -> tuple[str, bool]:
    if not address.startswith(ADDRESS):
        raise UsageError(
            f"{one_line(address)} is no address of a PostgreSQL database",
            hint="it begins with postgres://",
        )
    # Only an address that works is saved.
    open_server_store(address).close()
    is_new = address != project.store_address
    if is_new:
        if os.path.exists(project.database):
            here = os.path.relpath(project.database)
            said = f"what is in {here} stays there: `ralph init --store file` goes back to it"
            print(f"ralph: {said}, then `ralph store copy` copies it", file=sys.stderr)
        save_address(project.root, address)
    return shown_address(address), is_new


@command(
    flag("--skills", "also the skill `prd`"),
    option("--agent", "AGENT", "only for this agent"),
    flag("--force", "write over what is there"),
)
def write_templates(args: Namespace) -> None:
    """Write the prompt templates of the story pipeline, for you to edit.

    The files `.agents/ralph/PROMPT_*.md` replace the prompts of Ralph. Existing files stay as they
    are. With `--skills` agents get a skill `prd` in the project's folder for it, so that they can
    also write a PRD when you start them yourself.

    examples:
      ralph config templates
      ralph config templates --skills
      ralph config templates --force
    """
    from ralph.documents.skills import PRD_SKILL_FILE
    from ralph.documents.story_prompts import TEMPLATES, template, template_path
    from ralph.prompts import prompt
    from ralph.wiring.agents import agent_programs

    project = open_project()
    templates = {
        **{name: template(name) for name in TEMPLATES},
        "verify": prompt("verification_rules"),
        "review": prompt("review_rules"),
    }
    files = {template_path(name): text for name, text in templates.items()}
    agents = [one.traits for one in agent_programs() if not one.traits.package]
    folders = {one.name: one.skills for one in agents if one.skills}
    if args.agent is not None and args.agent not in folders:
        raise UsageError(
            f"it is not known where {args.agent!r} keeps its skills",
            hint=f"agents with skills: {', '.join(folders)}",
        )
    if args.skills:
        files |= {
            os.path.join(folder, PRD_SKILL_FILE): prompt("prd_skill")
            for name, folder in folders.items()
            if args.agent in (None, name)
        }
    project_files = open_project_files(project)
    for path, text in files.items():
        if project_files.exists(path) and not args.force:
            print(f"kept    {path}")
        else:
            project_files.write(path, text.encode())
            print(f"wrote   {path}")


@command()
def rebuild_state_files(_: Namespace) -> None:
    """Write the state files for other programs again.

    A run keeps them up to date: `.ralph/state.json`, `.ralph/implementation_plan.json`,
    `.ralph/sessions.jsonl`, `.ralph/progress.txt`, `.ralph/failures.json`, `.ralph/metrics.json`
    and `.ralph/reviews/`. They hold nothing that the database does not have, and Ralph never reads
    them.

    examples:
      ralph files rebuild
    """
    from ralph.engine.state_files import StateFiles
    from ralph.wiring.processes import system_clock

    if os.environ.get("RALPH_SOCKET"):
        raise UsageError("a session cannot write these files", hint="leave it to a person")
    with project_with_store() as (project, store):
        files, config = open_project_files(project), project.config
        written = StateFiles(store, files, system_clock(), config=config).rebuild()
    print("\n".join(written))
