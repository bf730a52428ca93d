"""One connection to a PostgreSQL server: whole transactions, one writer at a time, and outages that
cost nothing but time."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg import RawCursor, conninfo
from psycopg.adapt import Dumper, Loader
from psycopg.postgres import types
from psycopg.types.string import StrDumperUnknown, TextLoader

from ralph.adapters.postgres.dialect import OWN_SQL, in_order, reworded
from ralph.adapters.postgres.errors import explained, is_outage, unreachable
from ralph.adapters.postgres.migrations import LOCK, migrate
from ralph.core.errors import TemporaryFailure
from ralph.core.times import to_iso
from ralph.store.database import Queries, Values, queries
from ralph.store.rows import Row
from ralph.store.store import Store

T = TypeVar("T")
Connection = psycopg.Connection[Row]

PATIENCE_S: Final = 180.0
"""How long to wait for a server that is gone: as long as three leases. What runs meanwhile goes
on. No other worker takes it over, since none can reach the server."""
NAP_S: Final = 0.2
DEFAULTS: Final = {
    "application_name": "ralph",
    "connect_timeout": "5",
    # A connection that was cut silently is given up after some 15 seconds.
    "keepalives_idle": "5",
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "tcp_user_timeout": "15000",
}
SETTINGS: Final = """
    SET client_encoding = 'UTF8'; SET standard_conforming_strings = on;
    SET default_transaction_isolation = 'read committed';
    SET idle_in_transaction_session_timeout = '3s'; SET lock_timeout = '30s';
    SELECT set_config('TimeZone', '{zone}', false)
"""
"""A process that is frozen in a transaction holds up all others, so it loses its transaction."""
BEGIN: Final = """
    BEGIN; SELECT pg_current_xact_id()::text, pg_advisory_xact_lock({lock}, hashtext('{schema}'))
"""
"""All writers take one lock: each sees all that was written before, and events get their numbers in
the order in which readers see them."""
OUTCOME: Final = "SELECT pg_xact_status($1::text::xid8)"


class PostgresDatabase:
    """`Database` on a schema of a PostgreSQL server."""

    is_full = False

    def __init__(
        self,
        url: str,
        clock: Callable[[], float] = time.time,
        *,
        patience_s: float = PATIENCE_S,
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.clock = clock
        self.before_checkpoint: Callable[[], object] = lambda: None
        self.before_commit: Callable[[], object] = lambda: None
        self.interrupted: Callable[[], object] = lambda: None
        self.in_transaction = False
        self._warn = warn
        self._patience_s = patience_s
        self._now = ""
        parts: dict[str, Any] = conninfo.conninfo_to_dict(url)
        self._address = conninfo.make_conninfo(**(DEFAULTS | parts))
        self.name = f"{parts.get('host') or 'localhost'}/{parts.get('dbname', '')}"
        """Without user and password, for messages."""
        self._begin = ""
        try:
            self._connection = self._connected()
            try:
                schema = migrate(self._connection, self.name)
            except BaseException:
                self._connection.close()
                raise
        except psycopg.Error as error:
            raise self._explained(error) from error
        self._begin = BEGIN.format(lock=LOCK, schema=schema.replace("'", "''"))

    def _connected(self) -> Connection:
        connection: Connection = psycopg.connect(
            self._address, autocommit=True, cursor_factory=RawCursor[Row]
        )
        connection.adapters.register_dumper(str, _Text)
        connection.adapters.register_dumper(bool, _BoolAsInt)
        connection.adapters.register_loader("numeric", _PlainNumber)
        connection.adapters.register_loader("json", TextLoader)
        connection.execute(SETTINGS.format(zone=_time_zone()).encode())
        return connection

    def _explained(self, error: psycopg.Error) -> Exception:
        return explained(error, self.name) or error

    def close(self) -> None:
        self._connection.close()

    # Statements

    def execute(self, sql: str, values: Values = ()) -> int:
        return self._run(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        text, names = reworded(sql)
        with self._connection.cursor() as cursor:
            cursor.executemany(text.encode(), (in_order(row, names) for row in rows))

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        if self.in_transaction:
            return self._run(sql, values).fetchall()
        try:
            return self._patiently(lambda: self._run(sql, values).fetchall())
        except psycopg.Error as error:
            raise self._explained(error) from error

    def each(self, sql: str, values: Values = ()) -> Iterator[Row]:
        return iter(self.rows(sql, values))

    def row(self, sql: str, values: Values = ()) -> Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def value(self, sql: str, values: Values = ()) -> Any:
        found = self.row(sql, values)
        return found[0] if found else None

    def _run(self, sql: str, values: Values) -> psycopg.Cursor[Row]:
        text, names = reworded(sql)
        return self._connection.execute(text.encode(), in_order(values, names) or None)

    # Transactions

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        self.rows(f"SELECT set_config('statement_timeout', '{max(1, int(seconds * 1000))}', false)")
        try:
            yield
        finally:
            self.rows("SELECT set_config('statement_timeout', '0', false)")

    def now(self) -> str:
        self._now = self._now or to_iso(self.clock())
        return self._now

    def write(self, work: Callable[[], T]) -> T:
        """Do all of `work` or nothing of it. It is done once more if the server was lost before
        the end of the transaction."""
        if self.in_transaction:
            return work()
        try:
            while True:
                done, transaction, lost = self._patiently(lambda: self._whole(work))
                if lost is None or self._is_committed(transaction):
                    return done
        except psycopg.Error as error:
            raise self._explained(error) from error

    def _whole(self, work: Callable[[], T]) -> tuple[T, str, psycopg.Error | None]:
        """The result, the number of the transaction, and the error if its end is not known."""
        begun = self._connection.execute(self._begin.encode())
        begun.nextset()
        ((transaction, _),) = begun.fetchall()
        self._now, self.in_transaction = "", True
        try:
            done = work()
            self.before_commit()
        except BaseException:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self.in_transaction = False
        try:
            self._connection.execute("COMMIT")
        except psycopg.Error as error:
            if not is_outage(error):
                raise
            return done, transaction, error
        return done, transaction, None

    def _is_committed(self, transaction: str) -> bool:
        """Ask what became of a transaction whose answer was lost."""
        while True:
            try:
                outcome = self.value(OUTCOME, (transaction,))
            except psycopg.DataError:
                return False  # a server that took over has never heard of it
            if outcome != "in progress":
                return bool(outcome == "committed")
            time.sleep(NAP_S)

    # Outages

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it, on a new connection if the old one is lost."""
        lost_at: float | None = None
        is_told = False
        while True:
            try:
                if self._connection.closed:
                    self._connection = self._connected()
                done = work()
            except psycopg.Error as error:
                if not is_outage(error):
                    raise
                self._connection.close()
                if lost_at is None:
                    # Most often only the connection was lost.
                    lost_at = time.monotonic()
                    continue
                gone = unreachable(self.name, error)
                if time.monotonic() - lost_at >= self._patience_s or self.interrupted():
                    raise TemporaryFailure(str(gone), hint=gone.hint) from error
                if not is_told:
                    self._warn(f"{gone}; waiting for it")
                is_told = True
                time.sleep(NAP_S)
            else:
                if is_told:
                    self._warn(f"database {self.name} is back")
                return done

    # The dialect

    def queries(self, file: str) -> Queries:
        return queries(file, OWN_SQL)

    def limit(self, limit: int) -> int | None:
        return limit or None

    def any_of(self, words: Iterable[str]) -> str:
        """The words as a text: the statement takes their stems."""
        return " ".join(words)

    # All of the data

    def check(self) -> list[str]:
        """Nothing: the server keeps its pages, types and references right by itself."""
        return []

    def back_up(self) -> str | None:
        """None: the administrator of the server makes its backups."""
        return None

    def keep_reserve(self) -> None:
        """The disk is the server's."""

    def restore_if_removed(self) -> bool:
        return False


class _Text(StrDumperUnknown):
    """PostgreSQL knows no NUL in a text."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


class _BoolAsInt(Dumper):
    """As in SQLite, where a truth value is 0 or 1."""

    oid = types["int4"].oid

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class _PlainNumber(Loader):
    """A sum is a number like any other."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def _time_zone() -> str:
    """The name of this machine's time zone, for days; otherwise how far it is from UTC now."""
    name = os.environ.get("TZ") or os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_+/-]*", name):
        return name
    # In POSIX a zone to the west counts up.
    return f"<local>{-time.localtime().tm_gmtoff / 3600:+g}"


def open_postgres_store(
    url: str,
    clock: Callable[[], float] = time.time,
    *,
    patience_s: float = PATIENCE_S,
    warn: Callable[[str], object] = lambda _: None,
) -> Store:
    """Connect to a database, and bring it up to date. `warn` hears of outages; the store waits
    through them for `patience_s`."""
    return Store(PostgresDatabase(url, clock, patience_s=patience_s, warn=warn))
