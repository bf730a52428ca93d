"""Make the current directory a Ralph project.

Writes `.ralph.toml`, in which every setting is a comment, folders below `.ralph/`, entries in
`.gitignore` and the database. What is there already stays as it is. A database that was lost is not
replaced by an empty one unless --new-database says so; what is left of it is moved aside.
"""

import os
import sys
from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_yes
from ralph.core.errors import CannotWrite, Missing

EXAMPLES = """
ralph init
ralph -C packages/api init
ralph init --new-database
"""

FOLDERS = (".ralph", ".ralph/runs", ".ralph/features", ".ralph/skills", ".ralph/specs")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--new-database",
        action="store_true",
        help="start with an empty database where there was one",
    )
    add_yes(parser)


def run(args: Namespace) -> int:
    from ralph.adapters.workspace.layout import top_of

    root = os.getcwd()
    if top_of(root) is None:
        raise Missing(f"{root} is not in a git repository", hint="git init")
    _warn_of_another(root)
    if args.new_database:
        _start_anew(args)
    try:
        made = [*map(_folder, FOLDERS), _settings(), _ignored()]
        _make_known(root, is_new=dict(made)[".ralph.toml"])
        made.append(_database())
    except OSError as error:
        where = error.filename or root
        raise CannotWrite(
            f"cannot write {where}: {(error.strerror or '').lower()}",
            hint="look at what is in its place, and at its permissions",
        ) from error
    for name, is_new in made:
        print(f"{'made ' if is_new else 'there'}  {name}")
    if any(is_new for _, is_new in made):
        print('\nnext: ralph task add "what is to be done", then ralph run')
    return 0


def _start_anew(args: Namespace) -> None:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project
    from ralph.wiring.restore import start_anew

    project = the_project()
    make_sure(args, f"starting with an empty {os.path.relpath(project.database)}")
    if aside := start_anew(project):
        print(f"moved  {os.path.relpath(aside)}")


def _warn_of_another(root: str) -> None:
    from ralph.config.toml_file import NAME, find_roots

    for around in find_roots(os.path.dirname(root))[:1]:
        said = f"{around}/{NAME} is a project too; commands in {root} will use this one"
        print(f"ralph: {said}", file=sys.stderr)


def _make_known(root: str, *, is_new: bool) -> None:
    """Let the `.ralph.toml` here be obeyed, and say so if somebody else may have written it."""
    from ralph.adapters.workspace.known_projects import SETTINGS, add_project, is_project

    if "RALPH_SESSION" in os.environ or is_project(root, os.environ):
        return
    add_project(root)
    if not is_new:
        said = f"{root}/{SETTINGS} is obeyed from now on: read it, if you have not written it"
        print(f"ralph: {said}", file=sys.stderr)


def _folder(name: str) -> tuple[str, bool]:
    is_new = not os.path.isdir(name)
    os.makedirs(name, exist_ok=True)
    return f"{name}/", is_new


def _settings() -> tuple[str, bool]:
    from ralph.config.reference import describe, sections
    from ralph.config.toml_file import NAME
    from ralph.documents.project_files import settings_file

    try:
        with open(NAME, "x", encoding="utf-8") as file:
            file.write(settings_file(describe(), sections()))
    except FileExistsError:
        return NAME, False
    return NAME, True


def _ignored() -> tuple[str, bool]:
    """Line ends stay as they are; only what is missing is appended."""
    from ralph.documents.project_files import ignore_file
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


def _database() -> tuple[str, bool]:
    from ralph.cli.opening import the_project
    from ralph.wiring.project import open_store

    project = the_project()
    shown = os.path.relpath(project.database)
    if os.environ.get("RALPH_SOCKET"):
        # Inside a session the running loop has it, and nobody else writes it.
        return shown, False
    is_new = not os.path.exists(project.database)
    open_store(project).close()
    return shown, is_new
