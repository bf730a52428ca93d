"""Copy the project's store to another database."""

import os
from contextlib import closing

from ralph.adapters.executor.own_process import is_alive
from ralph.adapters.sqlite.backups import Backups
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.config.project import ADDRESS
from ralph.config.store_address import shown_address
from ralph.core.errors import Busy, UsageError
from ralph.store.copying import CopiedStore, copy_store
from ralph.store.store import Store
from ralph.wiring.project import Project, backups_of, open_server_store, open_store


def copy_project_store(project: Project, target: str) -> tuple[CopiedStore, str]:
    """Copy all that the project's store holds; return what was copied, and the target's name."""
    if os.environ.get("RALPH_SOCKET"):
        raise UsageError("a session cannot copy the store")
    with open_store(project) as source, closing(_opened(project, target)) as copy:
        for run, owner in source.runs.live():
            if is_alive(owner) is not False:
                raise Busy(
                    f"run {run.id} is at work with {project.store_name}",
                    hint="`ralph stop` ends the run; a lost one ends with the next `ralph run`",
                )
        copied = copy_store(source, copy)
        if wrong := copy.check():
            raise UsageError(f"the copy is not right: {wrong[0]}", hint="do not use it")
    return copied, shown_address(target) if target.startswith(ADDRESS) else target


def _opened(project: Project, target: str) -> Store:
    if target.startswith(ADDRESS):
        return open_server_store(target)
    is_own = os.path.realpath(target) == os.path.realpath(project.database)
    return open_sqlite_store(target, backups=backups_of(project) if is_own else Backups(""))
