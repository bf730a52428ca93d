"""Private checkouts, with what is known about their tasks."""

from contextlib import suppress

import msgspec

from ralph.core.errors import NoSuchTask
from ralph.core.moment import iso
from ralph.core.task import Status
from ralph.ports.store import Store
from ralph.wiring.checkouts import found_checkouts
from ralph.wiring.project import Project

OPEN = (Status.PENDING, Status.IN_PROGRESS, Status.BLOCKED)


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    """One checkout, as scripts rely on it."""

    name: str
    kind: str
    path: str
    since: str
    size_bytes: int
    in_use: bool
    task: str | None = None
    status: str | None = None
    title: str = ""

    @property
    def is_over(self) -> bool:
        """Does nobody need it any more?"""
        if self.in_use or self.kind == "broken":
            return False
        return self.kind != "task" or self.status is None or Status(self.status) not in OPEN


def tenants(store: Store, project: Project) -> list[Tenant]:
    """All of them, in order."""
    made = []
    for found in found_checkouts(project):
        task = None
        if found.kind == "task":
            with suppress(NoSuchTask):
                task = store.find(found.name)
        made.append(
            Tenant(
                name=found.name,
                kind=found.kind,
                path=found.path,
                since=iso(found.since_s),
                size_bytes=found.size_bytes,
                in_use=found.in_use,
                task=task.id if task is not None else None,
                status=task.status.value if task is not None else None,
                title=task.title if task is not None else "",
            )
        )
    return made


def told_size(size_bytes: int) -> str:
    """For the eye."""
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
