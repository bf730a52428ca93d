"""Features: named pieces of work, with a status that follows what happens to their tasks."""

import os

from msgspec.structs import replace

from ralph.adapters.store.database import Database
from ralph.adapters.store.journal import JournalPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.rows import feature_of
from ralph.core import ids
from ralph.core.errors import NoSuchTask
from ralph.core.events import FeatureAdded, FeatureChanged
from ralph.core.feature import Work, feature_status
from ralph.core.ids import FeatureId
from ralph.core.task import Feature, FeatureStatus
from ralph.ports.clock import Clock

SQL = Queries("features")


class FeaturesPart(JournalPart):
    """The table `features`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._touched: set[FeatureId] = set()
        database.before_commit = self._follow

    @whole
    def add_feature(self, name: str) -> Feature:
        """Add it, or return the one of that name."""
        known = self.feature(name)
        if known is not None:
            return known
        digits = os.urandom(ids.SHORTEST).hex()
        length = ids.SHORTEST
        while self.feature(ids.feature_id(digits[:length])) is not None:
            length += 1
        now = self.now()
        added = Feature(
            id=ids.feature_id(digits[:length]), name=name, created_at=now, updated_at=now
        )
        self.db.execute(SQL.add_feature, {"id": added.id, "name": name, "now": now})
        self.emit(FeatureAdded(feature=added))
        return added

    @reading
    def feature(self, name: str) -> Feature | None:
        """By name or id."""
        row = self.db.row(SQL.feature, {"name": name})
        return None if row is None else feature_of(row)

    @reading
    def features(self) -> list[Feature]:
        """All of them, oldest first."""
        return [feature_of(row) for row in self.db.rows(SQL.features)]

    @whole
    def document_feature(
        self, feature: FeatureId, *, spec_path: str | None, plan_path: str | None
    ) -> Feature:
        """Say where its spec and its plan are; None where there is none."""
        old = self.known_feature(feature)
        new = replace(old, spec_path=spec_path, plan_path=plan_path)
        if new != old:
            self._change(replace(new, status=self._status(new)))
        return self.known_feature(feature)

    def known_feature(self, feature: FeatureId) -> Feature:
        """The feature of that id, or NoSuchTask."""
        found = self.feature(feature)
        if found is None:
            raise NoSuchTask(f"there is no feature {feature}")
        return found

    # Following the tasks

    def touch(self, feature: FeatureId | None) -> None:
        """A task of it has moved, come or gone: see what that means before the transaction ends."""
        if feature is not None:
            self._touched.add(feature)

    def _follow(self) -> None:
        while self._touched:
            feature = self.feature(self._touched.pop())
            if feature is None:
                continue  # deleted with its tasks
            status = self._status(feature)
            if status is not feature.status:
                self._change(replace(feature, status=status))

    def _status(self, feature: Feature) -> FeatureStatus:
        (row,) = self.db.rows(SQL.work, [feature.id])
        kinds = dict(zip(Work.__struct_fields__, map(bool, row), strict=True))
        return feature_status(Work(**kinds), has_plan=feature.plan_path is not None)

    def _change(self, feature: Feature) -> None:
        changed = replace(feature, updated_at=self.now())
        self.db.execute(
            SQL.change,
            {
                "id": changed.id,
                "spec_path": changed.spec_path,
                "plan_path": changed.plan_path,
                "status": changed.status.value,
                "now": changed.updated_at,
            },
        )
        self.emit(FeatureChanged(feature=changed))
