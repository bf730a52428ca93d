"""Documents as Ralph last saw them."""

from typing import TypeVar

import msgspec

from ralph.core.ids import TaskId
from ralph.store.database import Part, transaction
from ralph.store.rows import value_of

Value = TypeVar("Value")


class DocumentSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a document when Ralph last finished with it."""

    path: str
    content: bytes
    in_session_of: TaskId | None = None
    """A session works on this task: what it does to the document is not on record yet."""


class DocumentSnapshots(Part):
    """Documents as Ralph last wrote or read them. They tell a user's edits from a session's."""

    file = "documents"

    def get(self, path: str) -> DocumentSnapshot | None:
        row = self.db.row(self.sql.get, {"path": path})
        return None if row is None else value_of(DocumentSnapshot, row)

    @transaction
    def save(self, snapshot: DocumentSnapshot) -> None:
        values = msgspec.structs.asdict(snapshot)
        self.db.execute(self.sql.save, values | {"now": self.db.now()})

    def value(self, key: str, kind: type[Value]) -> Value | None:
        """A value that is kept under a key like a document; None if there is none."""
        kept = self.get(key)
        return msgspec.json.decode(kept.content, type=kind) if kept is not None else None

    def save_value(self, key: str, value: object) -> None:
        self.save(DocumentSnapshot(path=key, content=msgspec.json.encode(value)))
