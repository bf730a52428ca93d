"""The files that show a project's state to other programs."""

from typing import TYPE_CHECKING

from ralph.ports.library import Library
from ralph.ports.store import Store
from ralph.wiring.project import Project
from ralph.wiring.settings import breaker_tolerance, room_of

if TYPE_CHECKING:
    from ralph.engine.views import Views


def views_of(project: Project, store: Store, library: Library) -> "Views":
    """All of them, with what the settings say."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.engine.views import Views

    config = project.loaded.config
    return Views(
        store,
        library,
        SystemClock(),
        tolerance=breaker_tolerance(project),
        max_cost_usd=config.budget.project_usd,
        room=room_of(project),
    )
