"""The files about workers, drawn again from what is on record."""

from typing import Final

from ralph.core.events import Recorded, RunStarted
from ralph.documents.team_views import Tally
from ralph.ports.library import Library
from ralph.ports.store import Store

PAGE: Final = 1000


def tally_of(store: Store) -> Tally:
    """Of the newest run, and of what teammates did since."""
    end = store.last_seq()
    found: list[Recorded] = []
    while end > 0:
        start = max(0, end - PAGE)
        page = [one for one in store.events(after=start, limit=PAGE) if one.seq <= end]
        found = page + found
        if any(isinstance(one.event, RunStarted) for one in page):
            break
        end = start
    tally = Tally()
    for one in found:
        tally.fold(one)
    return tally


def draw_team_views(store: Store, library: Library) -> None:
    """Write both."""
    for path, content in tally_of(store).files().items():
        library.put(path, content)
