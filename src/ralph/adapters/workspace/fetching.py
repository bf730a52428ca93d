"""Bringing work from one repository into another, without executing anything of the first."""

from typing import Final

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.objects import Objects
from ralph.core.errors import Missing

OPTIONS: Final = (
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-gc",
)


def fetch(into: Git, clone: str, name: str, ref: str) -> str:
    """Bring one ref of the clone; what `ref` led to before stays reachable."""
    objects = Objects(into)
    before = objects.read_ref(ref)
    into.run("fetch", *OPTIONS, clone, f"+{name}:{ref}")
    if before and not objects.is_reachable(before):
        objects.rescue(before)
    after = objects.read_ref(ref)
    if not after:
        raise Missing(f"{name} of {clone} did not arrive")
    return after
