"""Features: named groups of tasks, with a status that follows from their tasks."""

import os

from msgspec.structs import replace

from ralph.core import ids
from ralph.core.errors import NoSuchTask
from ralph.core.events import FeatureAdded, FeatureChanged, FeatureDeleted
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Feature, FeatureStatus, feature_status
from ralph.store.database import Database, Part, transaction
from ralph.store.rows import STATUSES, columns_of, value_of
from ralph.store.tasks import Tasks


class Features(Part):
    file = "features"

    def __init__(self, db: Database, tasks: Tasks) -> None:
        super().__init__(db)
        self._tasks = tasks
        db.before_commit = self._follow_tasks

    @transaction
    def add(self, name: str) -> Feature:
        """Add it, or return the one of that name."""
        known = self.get(name)
        if known is not None:
            return known
        digits = os.urandom(ids.MIN_ID_DIGITS).hex()
        length = ids.MIN_ID_DIGITS
        while self.get(ids.feature_id(digits[:length])) is not None:
            length += 1
        now = self.db.now()
        added = Feature(
            id=ids.feature_id(digits[:length]), name=name, created_at=now, updated_at=now
        )
        self.db.execute(self.sql.add_feature, columns_of(added))
        self.emit(FeatureAdded(feature=added))
        return added

    def get(self, name: str) -> Feature | None:
        """By name or id."""
        row = self.db.row(self.sql.feature, {"name": name})
        return None if row is None else value_of(Feature, row)

    def all(self) -> list[Feature]:
        """Oldest first."""
        return self.values(Feature, self.sql.features)

    @transaction
    def set_paths(
        self, feature: FeatureId, *, spec_path: str | None, plan_path: str | None
    ) -> Feature:
        """Record where its spec and its plan are; None where there is none."""
        old = self._known(feature)
        new = replace(old, spec_path=spec_path, plan_path=plan_path)
        return old if new == old else self._change(replace(new, status=self._status(new)))

    @transaction
    def delete(self, feature: FeatureId) -> list[TaskId]:
        """Delete it with all its tasks, what is below them and their edges; return the deleted
        tasks. Its archived tasks are deleted too."""
        self.db.execute(self.sql.forget_feature, {"feature": feature})
        known = self._known(feature)
        gone: list[TaskId] = []
        while top := self.db.row(self.sql.top_of_feature, {"feature": feature}):
            gone += self._tasks.delete(top[0])
        self.db.execute(self.sql.delete_feature, {"id": feature})
        self.emit(FeatureDeleted(feature_id=feature, name=known.name))
        return gone

    def _known(self, feature: FeatureId) -> Feature:
        found = self.get(feature)
        if found is None:
            raise NoSuchTask(f"there is no feature {feature}")
        return found

    # The status follows from the tasks

    def _follow_tasks(self) -> None:
        """Before a transaction ends: update the features whose tasks it has changed."""
        touched = self._tasks.transitions.touched_features
        while touched:
            feature = self.get(touched.pop())
            if feature is None:
                continue  # deleted with its tasks
            status = self._status(feature)
            if status is not feature.status:
                self._change(replace(feature, status=status))

    def _status(self, feature: Feature) -> FeatureStatus:
        found = self.db.rows(self.sql.statuses, [feature.id])
        tasks = {STATUSES[status] for status, has_any, _ in found if has_any}
        roots = {STATUSES[status] for status, _, has_root in found if has_root}
        return feature_status(tasks, roots, has_plan=feature.plan_path is not None)

    def _change(self, feature: Feature) -> Feature:
        changed = replace(feature, updated_at=self.db.now())
        self.db.execute(self.sql.change, columns_of(changed))
        self.emit(FeatureChanged(feature=changed))
        return changed
