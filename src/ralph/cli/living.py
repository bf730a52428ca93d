"""Which runs are at work right now."""

from ralph.core.errors import RalphError
from ralph.ports.history import Run, Word
from ralph.ports.store import Store


def living_runs(store: Store) -> list[Run]:
    """Runs that have not ended and whose process lives, as far as this machine can tell."""
    unended = store.live_runs()
    if not unended:
        return []
    from ralph.adapters.executor.identity import is_alive

    return [run for run, owner in unended if is_alive(owner) is not False]


def send(word: Word, done: str) -> int:
    """Ask every living run for something."""
    from ralph.cli.opening import the_store

    with the_store() as store:
        runs = living_runs(store)
        if not runs:
            raise RalphError("no run is at work", hint="ralph run starts one")
        for run in runs:
            store.send(run.id, word)
    for run in runs:
        print(f"run {run.id} {done}")
    return 0
