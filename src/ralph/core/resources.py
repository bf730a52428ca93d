"""What a command may use of a machine. Values only; 0 is without limit."""

import re
from typing import Final

import msgspec

SIZE: Final = r"^(auto|off|0|[0-9]+(\.[0-9]+)? ?[KMGT]i?B?)$"
"""A setting: `auto`, `off`, `512 MB`, `1.5GiB`."""
UNITS: Final = {"K": 10, "M": 20, "G": 30, "T": 40}
PARTS: Final = re.compile(r"([0-9.]+) ?([KMGT])")


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for a command and all that it starts."""

    processes: int = 0
    """At the same time; threads count."""
    memory: int = 0
    """Bytes, all processes together."""
    open_files: int = 0
    """Of each process."""
    disk: int = 0
    """Bytes that it may add."""
    disk_share: float = 0.0
    """The same, as a part of what is free when it starts."""
    folders: tuple[str, ...] = ()
    """Where it can write."""


def size(text: str) -> int:
    """Bytes of a setting that matches SIZE; 0 for none, or for what is worked out elsewhere."""
    found = PARTS.match(text)
    return int(float(found[1]) * (1 << UNITS[found[2]])) if found else 0


def in_words(number: float) -> str:
    """Bytes for people."""
    for unit, bits in reversed(UNITS.items()):
        if number >= 1 << bits:
            return f"{number / (1 << bits):.3g} {unit}B"
    return f"{number:g} bytes"


def too_many_processes(limits: Resources) -> str:
    """In words."""
    return f"it used more than {limits.processes} processes: [sandbox] processes raises it"


def too_much_memory(limits: Resources) -> str:
    """In words."""
    return f"it used more than {in_words(limits.memory)} of memory: [sandbox] memory raises it"


def too_much_disk(size: float) -> str:
    """In words."""
    return f"it added more than {in_words(size)} to the disk: [sandbox] disk raises it"


def too_many_files(number: float) -> str:
    """In words."""
    return f"it made more than {number:.0f} files: [sandbox] disk raises it"
