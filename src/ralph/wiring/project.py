"""The project around us, its store and its files."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from ralph.config.load import Loaded, load, load_anywhere
from ralph.core.errors import Missing, UnusableData
from ralph.ports.store import Store

if TYPE_CHECKING:
    from ralph.adapters.store.backups import Backups
    from ralph.ports.library import Lessons, Library


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
        return self.loaded.runs_dir

    @property
    def tools(self) -> str:
        """Where sessions find `ralph`, if they would not find it otherwise. They see this folder,
        and cannot write there."""
        return os.path.join(self.runs_dir, ".bin")

    @property
    def database(self) -> str:
        """`RALPH_DB` lets several checkouts share a store."""
        return os.environ.get("RALPH_DB") or os.path.join(self.state, "progress.db")


def find_project(flags: Mapping[str, object] | None = None) -> Project:
    """The project around the current directory."""
    loaded = load(_here(), os.environ, flags or {}, _is_project)
    return Project(root=loaded.root, loaded=loaded)


def find_project_if_any(flags: Mapping[str, object] | None = None) -> Project:
    """The same for what belongs to the machine: without a project, the environment's settings."""
    loaded = load_anywhere(_here(), os.environ, flags or {}, _is_project)
    return Project(root=loaded.root, loaded=loaded)


def _is_project(folder: str) -> bool:
    """Inside a session the nearest counts: its checkout is a copy of the project."""
    from ralph.adapters.workspace.known_projects import is_project

    return "RALPH_SESSION" in os.environ or is_project(folder, os.environ)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise Missing("the current directory is gone", hint="cd to one that exists") from error


def open_store(project: Project) -> Store:
    """The store; inside a session the running loop answers for it."""
    if os.environ.get("RALPH_SOCKET"):
        from ralph.inside.remote import RemoteStore

        return RemoteStore(os.environ["RALPH_SOCKET"], os.environ.get("RALPH_TOKEN", ""))
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.store.sqlite import SqliteStore

    return SqliteStore.open(project.database, SystemClock(), backups=backups_of(project))


def backups_of(project: Project) -> "Backups":
    """The database's copies: where `git clean` does not find them, or beside a database that
    several checkouts share."""
    from ralph.adapters.store.backups import Backups
    from ralph.adapters.workspace.layout import layout, top_of

    database, keep = os.path.abspath(project.database), project.loaded.config.retention.backups
    top = top_of(project.root)
    inside = os.path.relpath(database, top) if top else os.pardir
    git_dir = ""
    if top is not None and not inside.startswith(os.pardir):
        with suppress(UnusableData):
            git_dir = layout(top).git_dir
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
    from ralph.documents.views import PLAN

    plan = open_library(project).read(PLAN)
    # One that is too large to be read has a great many.
    return bool(plan.trouble) or '"id":' in (plan.text or "")


def open_library(project: Project) -> "Library":
    """The project's own files."""
    from ralph.adapters.library.folder import FolderLibrary

    return FolderLibrary(project.root)


def open_lessons(project: Project) -> "Lessons":
    """Where guardrails are written down; inside a session the running loop does it."""
    if os.environ.get("RALPH_SOCKET"):
        from ralph.inside.remote import RemoteStore

        return RemoteStore(os.environ["RALPH_SOCKET"], os.environ.get("RALPH_TOKEN", ""))
    from ralph.adapters.library.lessons import FileLessons

    return FileLessons(lambda: open_library(project), guardrails_of(project))


def guardrails_of(project: Project) -> str:
    """Where they are, from the project's root: `config.sh` may say so."""
    from ralph.documents.guardrails import PATH
    from ralph.workflows.pipeline import inside

    return inside(project.root, project.loaded.variables.get("GUARDRAILS_PATH") or PATH)
