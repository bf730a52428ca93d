"""Durations as people write them: `30s`, `10m`, `8h`."""

from typing import Final

UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """`"10m"` is 600; an empty text is 0, which means without limit. ValueError otherwise."""
    stripped = text.strip()
    if not stripped:
        return 0.0
    unit = UNITS.get(stripped[-1])
    if unit is None:
        raise ValueError(f"{text!r} is not a duration such as 30s, 10m or 8h")
    try:
        number = float(stripped[:-1])
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 1e9:
        raise ValueError(f"{text!r} is not a duration such as 30s, 10m or 8h")
    return number * unit


def spoken(duration_s: float) -> str:
    """`95` becomes `1m 35s`."""
    total = round(duration_s)
    if duration_s < 10:
        return f"{duration_s:.1f}s"
    if total < 60:
        return f"{total}s"
    if total < 3600:
        return f"{total // 60}m {total % 60:02}s"
    return f"{total // 3600}h {total % 3600 // 60:02}m"
