"""A state that is shown again and again, in place on a terminal."""

import sys
import time
from collections.abc import Callable

from ralph.cli.screen import Screen
from ralph.cli.team.overview import Overview


def watch(
    look: Callable[[], Overview],
    screen: Screen,
    interval_s: float,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Until the run ends. Where nothing can be drawn over, only what has changed is printed."""
    import os

    from ralph.ui.choose import can_redraw

    show = _in_place if can_redraw(sys.stdout, os.environ) else _one_below_the_other
    show(look, screen, lambda: wait(interval_s))
    return 0


def _one_below_the_other(
    look: Callable[[], Overview], screen: Screen, wait: Callable[[], None]
) -> None:
    before: Overview | None = None
    while True:
        now = look()
        if before is None or now.without_clocks() != before.without_clocks():
            text = "\n".join(now.lines(screen, screen.width))
            print(text if before is None else f"\n{text}", flush=True)
        before = now
        if not now.is_alive:
            return
        wait()


def _in_place(look: Callable[[], Overview], screen: Screen, wait: Callable[[], None]) -> None:
    from ralph.ui.outlet import Outlet
    from ralph.ui.region import Region, terminal_size

    out = Outlet(sys.stdout)
    region = Region(out)
    columns = 0
    rows: list[str] = []
    try:
        while True:
            now, size = look(), terminal_size(out.fd)
            rows = now.lines(screen, size.columns - 1)
            if not now.is_alive:
                region.draw(rows, [])
                return
            # What does not fit would scroll away, and nobody could draw over it.
            rows = rows[: size.lines - 1]
            region.draw([], rows, afresh=columns not in (0, size.columns))
            columns = size.columns
            wait()
    except KeyboardInterrupt:
        region.draw(rows, [])
        raise
    finally:
        region.close()
