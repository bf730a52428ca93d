"""Which runs are at work right now."""

from ralph.core.errors import RalphError, UsageError
from ralph.ports.history import Run, Word
from ralph.ports.store import Store


def living_runs(store: Store) -> list[Run]:
    """Runs that have not ended and whose process lives, as far as this machine can tell."""
    unended = store.live_runs()
    if not unended:
        return []
    from ralph.adapters.executor.identity import is_alive

    return [run for run, owner in unended if is_alive(owner) is not False]


def send(word: Word, done: str, name: str | None = None) -> int:
    """Ask every living run for something; about one task in progress, if it has a name."""
    from ralph.cli.opening import the_store
    from ralph.core.task import Status

    with the_store() as store:
        task = store.find(name) if name is not None else None
        runs = living_runs(store)
        if not runs:
            raise RalphError("no run is at work", hint="ralph run starts one")
        if task is not None and task.status is not Status.IN_PROGRESS:
            raise UsageError(f"task {task.id} is {task.status}, so no session is at work on it")
        for run in runs:
            store.send(run.id, word, task.id if task is not None else None)
    for run in runs:
        print(f"run {run.id} {done}")
    return 0
