"""The two hooks of a team, as its program calls them: JSON in, an exit code out."""

import os
import sys

NAMES = ("task-completed", "teammate-idle")
NO = 2


def answer(name: str) -> int:
    """0: yes. 2: no, and stderr says why. Whatever goes wrong, nothing counts as completed because
    of it, and nobody is kept from resting."""
    from ralph.core.errors import RalphError

    if os.environ.get("RALPH_SOCKET"):
        # A session of Ralph's own: the loop that started it judges its work when it ends.
        return 0
    unasked = NO if name == "task-completed" else 0
    try:
        code, said = _asked(name)
    except RalphError as error:
        code, said = unasked, f"ralph: {error}" + (f" ({error.hint})" if error.hint else "")
    except Exception as error:  # noqa: BLE001 - every code but 2 is a yes to whoever asks
        code, said = unasked, f"ralph: this is a bug in Ralph: {type(error).__name__}: {error}"
    if said:
        print(said, file=sys.stderr)
    return code


def _asked(name: str) -> tuple[int, str]:
    from typing import Any

    import msgspec

    from ralph.adapters.executor.clock import SystemClock
    from ralph.cli.opening import the_store
    from ralph.core.errors import UnusableData
    from ralph.wiring.gate_round import first_failure
    from ralph.wiring.project import find_project, open_library
    from ralph.wiring.settings import breaker_tolerance
    from ralph.workflows.team_views import draw_team_views
    from ralph.workflows.teammates import read_asked, stamp_goals, task_completed, teammate_idle

    try:
        payload = msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnusableData(f"what the hook is told is no JSON object: {error}") from error
    asked = read_asked(payload)
    _go_to(os.environ.get("CLAUDE_PROJECT_DIR") or asked.cwd)
    project = find_project()
    tolerance = breaker_tolerance(project)
    clock = SystemClock()
    with the_store(project) as store:
        if name == "teammate-idle":
            said = teammate_idle(store, clock, tolerance, asked, project.root)
        else:
            said = task_completed(
                store, clock, tolerance, asked, lambda: first_failure(project, asked.seat)
            )
            library, retries = open_library(project), project.loaded.config.execution.max_retries
            stamp_goals(store, library, clock, asked, retries)
            draw_team_views(store, library)
    return said.code, said.said


def _go_to(folder: str) -> None:
    from ralph.core.errors import Missing

    try:
        if folder:
            os.chdir(folder)
    except OSError as error:
        raise Missing(f"cannot go to {folder}: {error.strerror}") from error
