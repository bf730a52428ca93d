"""The store on SQLite: the parts joined, and what is about the file as a whole."""

from typing import Final

from ralph.adapters.store import counters
from ralph.adapters.store.backups import Backups
from ralph.adapters.store.database import Database
from ralph.adapters.store.pages import PagesPart
from ralph.adapters.store.part import whole
from ralph.ports.clock import Clock

PATIENCE_S: Final = 30.0
"""How long to wait for others to finish writing."""


class SqliteStore(PagesPart):
    """`Store` on one SQLite file. Each part builds on the one before:

    journal < features < moves < lookup < adding < graph < papers < memory < crew < claims
    < ranking < ledger < breakers < history < pages
    """

    @classmethod
    def open(
        cls,
        path: str,
        clock: Clock,
        *,
        relaxed: bool = False,
        timeout_s: float = PATIENCE_S,
        backups: Backups | None = None,
    ) -> "SqliteStore":
        """Open the database, or make it, and bring it up to date.

        `backups` knows whether there was one, and keeps copies. `relaxed` survives a crash of Ralph
        but may lose the last moments before a power cut.
        """
        database = Database(path, relaxed=relaxed, timeout_s=timeout_s, backups=backups)
        return cls(database, clock)

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    @whole
    def check(self) -> list[str]:
        """What is wrong with the data, one line each; counters are recounted and mended."""
        damage = self.db.damages()
        strays = [
            f"row {row} of {table} names something in {parent} that does not exist"
            for table, row, parent, _ in self.db.rows("PRAGMA foreign_key_check")
        ]
        return damage + strays + counters.mend(self.db)

    @property
    def is_full(self) -> bool:
        """The disk is full and the reserve is used up: time to end the run."""
        return self.db.is_full

    def keep_reserve(self) -> None:
        """Set some bytes aside, so that a run on a full disk can still record its end."""
        self.db.keep_reserve()

    def back_up(self) -> str | None:
        """Make a verified copy, unless there is one of just this state; return where it is."""
        return self.db.backups.back_up(self.db.path)

    def restore_if_removed(self) -> bool:
        """Write the database again if somebody removed it. True if that was needed."""
        return self.db.restore_if_removed()
