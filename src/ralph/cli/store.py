"""The command that copies the store."""

from argparse import Namespace

from ralph.cli.command import command, option
from ralph.cli.project_access import open_project


@command(option("target", "TARGET", "the address of a PostgreSQL database, or a file"))
def copy(args: Namespace) -> None:
    """Copy all tasks, sessions, costs and events to another database.

    The project's database stays as it is, and in use: `ralph init --store` changes which one is
    used. TARGET is empty, or does not exist yet. Every row is compared afterwards. No run may be at
    work.

    examples:
      ralph store copy postgres://ralph@db.example.org/tasks
      ralph store copy .ralph/progress.db
    """
    from ralph.wiring.store_copy import copy_project_store

    copied, name = copy_project_store(open_project(), args.target)
    print(f"copied {copied.tasks} tasks and {copied.events} events to {name}")
