"""Which wall: the strongest that stands here, or a reason why none does. Never none in silence."""

import sys
from collections.abc import Callable
from typing import Final

from ralph.adapters.sandbox.bubblewrap import Bubblewrap
from ralph.adapters.sandbox.landlock import Landlock
from ralph.adapters.sandbox.seatbelt import Seatbelt
from ralph.core.errors import Unavailable
from ralph.ports.executor import Captures
from ralph.ports.sandbox import Sandbox, Trouble

BY_NAME: Final[dict[str, Callable[[str], Sandbox]]] = {
    Bubblewrap.name: Bubblewrap,
    Landlock.name: lambda _: Landlock(),
    Seatbelt.name: lambda _: Seatbelt(),
}
OTHERWISE: Final = "or, knowingly, run with --no-sandbox"


def choose(use: str, executor: Captures, path: str) -> tuple[Sandbox, str]:
    """A sandbox that starts, and why it is not a better one. `path` is where to look for it."""
    if use in BY_NAME:
        return _tried(BY_NAME[use](path), executor), ""
    if sys.platform == "darwin":
        return _tried(Seatbelt(), executor), ""
    if sys.platform != "linux":
        raise Unavailable(
            f"there is no sandbox for {sys.platform}", hint="run with --no-sandbox, knowingly"
        )
    best = Bubblewrap(path)
    trouble = best.probe(executor)
    if trouble is None:
        return best, ""
    second = Landlock()
    # What can be installed is worth more than what is left without it.
    if not best.is_installed or second.probe(executor) is not None:
        raise _none(trouble)
    return second, f"{trouble.reason}; {trouble.way_out} helps"


def _tried(sandbox: Sandbox, executor: Captures) -> Sandbox:
    trouble = sandbox.probe(executor)
    if trouble is not None:
        raise _none(trouble)
    return sandbox


def _none(trouble: Trouble) -> Unavailable:
    return Unavailable(
        f"sessions need a sandbox, and {trouble.reason}", hint=f"{trouble.way_out}; {OTHERWISE}"
    )
