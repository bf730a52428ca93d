"""Limits on processes, memory, files and disk space of a command. Zero means without limit."""

import re
from typing import Final

import msgspec

SIZE: Final = r"^(auto|off|0|[0-9]+(\.[0-9]+)? ?[KMGT]i?B?)$"
"""A setting: `auto`, `off`, `512 MB`, `1.5GiB`."""
UNITS: Final = {"K": 10, "M": 20, "G": 30, "T": 40}
PARTS: Final = re.compile(r"([0-9.]+) ?([KMGT])")


class ResourceLimits(msgspec.Struct, frozen=True, kw_only=True):
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


def parse_size(text: str) -> int:
    """Bytes of a setting that matches SIZE; 0 for none, or for what is worked out elsewhere."""
    found = PARTS.match(text)
    return int(float(found[1]) * (1 << UNITS[found[2]])) if found else 0


def format_size(number: float) -> str:
    """Bytes for people."""
    for unit, bits in reversed(UNITS.items()):
        if number >= 1 << bits:
            return f"{number / (1 << bits):.3g} {unit}B"
    return f"{number:g} bytes"


def too_many_processes(limits: ResourceLimits) -> str:
    return f"it used more than {limits.processes} processes: [sandbox] processes raises it"


def too_much_memory(limits: ResourceLimits) -> str:
    return f"it used more than {format_size(limits.memory)} of memory: [sandbox] memory raises it"


def too_much_disk(size: float) -> str:
    return f"it added more than {format_size(size)} to the disk: [sandbox] disk raises it"


def too_many_files(number: float) -> str:
    return f"it made more than {number:.0f} files: [sandbox] disk raises it"
