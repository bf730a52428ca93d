"""Where a feature's documents are: `.ralph/features/<name>/spec.md` and `plan.md`."""

from typing import Final

from ralph.core.errors import UsageError

FOLDER: Final = ".ralph/features"
LONGEST: Final = 80


def folder_of(name: str) -> str:
    """Below the project's root, like the others here. UsageError where the name leads elsewhere."""
    return f"{FOLDER}/{named(name)}"


def spec_of(name: str) -> str:
    """What is wanted."""
    return f"{folder_of(name)}/spec.md"


def plan_of(name: str) -> str:
    """How it is to be done."""
    return f"{folder_of(name)}/plan.md"


def named(name: str) -> str:
    """The name of a feature, if it can be the name of a folder as well."""
    bare = name.strip()
    if not bare:
        raise UsageError("a feature needs a name, and this one is empty")
    if not can_name_a_folder(bare):
        raise UsageError(
            f"{bare!r} cannot name a feature: it is the name of a folder as well",
            hint=f"letters, digits, spaces, - and _ are fine, up to {LONGEST} bytes",
        )
    return bare


def can_name_a_folder(name: str) -> bool:
    """Features that come with `task add` may be called anything."""
    return (
        bool(name.strip())
        and not name.startswith((".", "-"))
        and "/" not in name
        and name.isprintable()
        and len(name.encode()) <= LONGEST
    )
