"""Find the project, its store and its files."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, cast

from ralph.config.load import load_config
from ralph.config.project import Project as Project  # noqa: PLC0414
from ralph.core.errors import Unavailable, UnusableData
from ralph.store.store import Store

if TYPE_CHECKING:
    from ralph.adapters.sqlite.backups import Backups
    from ralph.ports.project_files import GuardrailWriter, ProjectFiles


def find_project(flags: Mapping[str, object] | None = None, *, anywhere: bool = False) -> Project:
    """The project around the current directory; `anywhere`, for what belongs to the machine:
    without a project, the environment's settings."""
    return load_config(os.getcwd(), os.environ, flags or {}, _is_project, anywhere=anywhere)


def new_project(flags: Mapping[str, object]) -> Project:
    """What `ralph init` makes of the current directory; a project around it does not count."""
    return load_config(os.getcwd(), os.environ, flags, lambda _: False, anywhere=True)


def _is_project(folder: str) -> bool:
    """Inside a session the nearest counts: its checkout is a copy of the project."""
    from ralph.adapters.workspace.known_projects import is_project

    return "RALPH_SESSION" in os.environ or is_project(folder, os.environ)


def accept_project(folder: str) -> bool:
    """Obey the `.ralph.toml` in this folder from now on; False if that was so before."""
    from ralph.adapters.workspace.known_projects import add_project

    if _is_project(folder):
        return False
    add_project(folder)
    return True


@contextmanager
def open_store(project: Project) -> Iterator[Store]:
    """The store, closed at the end; inside a session the running loop answers for it."""
    if os.environ.get("RALPH_SOCKET"):
        from ralph.inside.session_calls import RemoteStore

        remote = RemoteStore(os.environ["RALPH_SOCKET"], os.environ.get("RALPH_TOKEN", ""))
        store = cast("Store", remote)
    elif address := project.store_address:
        store = open_server_store(address)
    else:
        from ralph.adapters.sqlite.database import open_sqlite_store

        store = open_sqlite_store(project.database, backups=backups_of(project))
    with closing(store):
        yield store


def open_server_store(address: str) -> Store:
    """A store on a server. Outages are reported at once, since a run waits through them."""
    try:
        from ralph.adapters.postgres.database import open_postgres_store
    except ImportError as error:
        raise Unavailable(
            f"PostgreSQL cannot be used: {error}", hint="pip install 'ralphloop[postgres]'"
        ) from error

    def warn(line: str) -> None:
        print(f"ralph: {line}", file=sys.stderr)  # noqa: T201

    return open_postgres_store(address, warn=warn)


def sqlite_version() -> str:
    """The version of SQLite; an error if it is too old."""
    from ralph.adapters.sqlite.database import sqlite_version

    return sqlite_version()


def backups_of(project: Project) -> "Backups":
    """The database's copies: away from `git clean`, or beside a database that is shared."""
    from ralph.adapters.sqlite.backups import Backups
    from ralph.git_layout import find_layout, top_of

    database, keep = os.path.abspath(project.database), project.config.retention.backups
    top = top_of(project.root)
    inside = os.path.relpath(database, top) if top else os.pardir
    git_dir = ""
    if top is not None and not inside.startswith(os.pardir):
        with suppress(UnusableData):
            git_dir = find_layout(top).git_dir
    if not git_dir:
        return Backups(f"{database}.backups", keep=keep)
    ours = os.path.join(git_dir, "ralph")
    return Backups(
        os.path.join(ours, "backups", inside.replace(os.sep, "+")),
        within=git_dir,
        keep=keep,
        had_one=lambda: os.path.isdir(ours) and _has_plan(project),
    )


def _has_plan(project: Project) -> bool:
    """Was a plan with tasks drawn here? It is never part of a clone."""
    from ralph.documents.state_files import PLAN

    plan = open_project_files(project).read(PLAN)
    # One that is too large to be read has a great many.
    return bool(plan.trouble) or '"id":' in (plan.text or "")


def open_project_files(project: Project) -> "ProjectFiles":
    return files_in(project.root)


def files_in(folder: str) -> "ProjectFiles":
    from ralph.adapters.project_files.folder import FolderFiles

    return FolderFiles(folder)


def open_guardrail_writer(project: Project) -> "GuardrailWriter":
    """Where guardrails are written down; inside a session the running loop does it."""
    if os.environ.get("RALPH_SOCKET"):
        from ralph.inside.session_calls import RemoteStore

        return RemoteStore(os.environ["RALPH_SOCKET"], os.environ.get("RALPH_TOKEN", ""))
    from ralph.adapters.project_files.guardrail_file import GuardrailFile

    return GuardrailFile(lambda: open_project_files(project), guardrails_of(project))


def guardrails_of(project: Project) -> str:
    """Where they are, from the project's root: `config.sh` may say so."""
    from ralph.documents.guardrails import PATH
    from ralph.workflows.story_pipeline import path_in_project

    return path_in_project(project.root, project.variables.get("GUARDRAILS_PATH") or PATH)
