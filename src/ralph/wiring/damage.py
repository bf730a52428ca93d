"""Which errors are the fault of the data, though they look like bugs."""

import os

from ralph.core.errors import RalphError, UnusableData
from ralph.core.safe_text import one_line


def as_damage(error: BaseException, database: str = "") -> RalphError | None:
    """What to say instead, where something is nested without end, of another kind than anything
    that Ralph writes, or in a database that somebody has changed by hand; None: it is a bug.
    `database`: its path, if not that of the project here."""
    import msgspec

    said = one_line(f"{type(error).__name__}: {error}", 200)
    if isinstance(error, (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
        return UnusableData(
            f"what is stored here cannot be read: {said}", hint="`ralph doctor` looks for damage"
        )
    if not isinstance(error, Exception):
        return None
    try:
        from ralph.adapters.store.damage import find_damage
        from ralph.wiring.project import find_project

        path = database or find_project().database
        damage = find_damage(path) if os.path.exists(path) else ""
    except Exception:  # noqa: BLE001 - the first error is the one to report
        return None
    if not damage:
        return None
    return UnusableData(
        f"database {path} is damaged: {damage} ({said})",
        hint="`ralph doctor` says more about it",
    )
