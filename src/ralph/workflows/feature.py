"""The feature workflow: spec, plan, tasks."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from ralph.core.errors import CannotWrite, Missing, NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.task import Feature, Task, TaskDraft, TaskEdit, TaskStatus
from ralph.core.transitions import Unblocked
from ralph.documents import feature_prompts as texts
from ralph.documents.feature_files import (
    can_name_a_folder,
    feature_name,
    folder_of,
    plan_of,
    spec_of,
)
from ralph.documents.feature_prompts import FeatureDocument, FeatureFacts
from ralph.files import remove_tree, walk
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.planning_task import PlanningTask, lacking

UNDIVIDED = "it is not broken down into tasks yet"


class FeatureWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    store: Store
    root: str

    def open(self, name: str) -> Feature:
        return self._with_paths(self.store.features.add(feature_name(name)))

    @contextmanager
    def open_first_step(self, name: str) -> Iterator[Feature]:
        """The same for a first step. If that lacks something, a new feature is deleted again."""
        is_new = self.store.features.get(feature_name(name)) is None
        feature = self.open(name)
        try:
            yield feature
        except Missing:
            if is_new:
                self.store.features.delete(feature.id)
            raise

    def find(self, name: str) -> Feature:
        """The feature of that name, or one that only has documents; NoSuchTask if there is none."""
        feature = self.store.features.get(name)
        if feature is None and can_name_a_folder(name) and self._has_any(name):
            return self.open(name)
        if feature is None:
            names = ", ".join(one.name for one in self.store.features.all()[:10])
            raise NoSuchTask(
                f"there is no feature {name}",
                hint=f"features: {names}" if names else f"ralph feature spec {name}",
            )
        return self._with_paths(feature)

    def _with_paths(self, feature: Feature) -> Feature:
        if not can_name_a_folder(feature.name):
            return feature
        spec, plan = spec_of(feature.name), plan_of(feature.name)
        found = [self._path(spec, feature.spec_path), self._path(plan, feature.plan_path)]
        if found == [feature.spec_path, feature.plan_path]:
            return feature
        return self.store.features.set_paths(feature.id, spec_path=found[0], plan_path=found[1])

    def _path(self, usual: str, known: str | None) -> str | None:
        """The path of a document. Those of a goal are in other places."""
        return next((path for path in (known, usual) if path and self.has(path)), None)

    def _has_any(self, name: str) -> bool:
        return self.has(spec_of(name)) or self.has(plan_of(name))

    def has(self, path: str) -> bool:
        try:
            return os.path.getsize(os.path.join(self.root, path)) > 0
        except OSError:
            return False

    def facts_of(self, feature: Feature, request: str = "") -> FeatureFacts:
        paths = {
            FeatureDocument.SPEC: spec_of(feature.name),
            FeatureDocument.PLAN: plan_of(feature.name),
        }
        written = frozenset(one for one, path in paths.items() if self.has(path))
        return FeatureFacts(
            name=feature.name, paths=paths, written=written, request=request.strip()
        )

    def documents(self, feature: Feature) -> list[str]:
        if not can_name_a_folder(feature.name):
            return []
        folder = os.path.join(self.root, folder_of(feature.name))
        found = [os.path.join(at, name) for at, _, names in walk(folder) for name in names]
        return sorted(os.path.relpath(path, self.root) for path in found)

    def remove_documents(self, feature: Feature) -> None:
        try:
            remove_tree(os.path.join(self.root, folder_of(feature.name)))
        except OSError as error:
            raise CannotWrite(
                f"{folder_of(feature.name)} cannot be removed: {error.strerror}"
            ) from error

    # The three steps

    def require_spec(self, feature: Feature) -> None:
        self._require(feature, "spec", spec_of(feature.name))

    def require_plan(self, feature: Feature) -> None:
        self.require_spec(feature)
        self._require(feature, "plan", plan_of(feature.name))

    def _require(self, feature: Feature, step: str, path: str) -> None:
        if not self.has(path):
            raise Missing(
                f"feature {feature.name} has no {step} ({path})", hint=_command(feature, step)
            )

    def document_task(
        self, feature: Feature, document: FeatureDocument, request: str
    ) -> PlanningTask:
        facts = self.facts_of(feature, request)
        if document is FeatureDocument.PLAN:
            self.require_spec(feature)
        elif not facts.request:
            raise Missing(
                f"there is no terminal to ask what {feature.name} is to be",
                hint='say it: --request "…", --file FILE, or on standard input',
            )
        path = facts.paths[document]
        return PlanningTask(
            alias=f"{feature.name}-{document}",
            title=f"Write the {document} of {feature.name}",
            description=texts.document_task_description(facts, document),
            phase=document.phase,
            missing=lambda: "" if self.has(path) else lacking(path),
            command=_command(feature, document),
            feature=feature.name,
        )

    def build_task(self, feature: Feature) -> PlanningTask:
        """The task of dividing the feature, below a root that is blocked until that is done."""
        self.require_plan(feature)
        root = self._root(feature) or self._new_root(feature)
        return PlanningTask(
            alias=f"{feature.name}-build",
            title=f"Break {feature.name} down into tasks",
            description=texts.decomposition_task_description(self.facts_of(feature), root.id),
            phase=Phase.PLANNING,
            missing=lambda: "" if self._parts(feature, root.id) else f"no task is below {root.id}",
            command=_command(feature, "build"),
            feature=feature.name,
        )

    # The root

    def _root(self, feature: Feature) -> Task | None:
        title = _root_title(feature)
        tops = self.store.tasks.select(TaskFilter(feature=feature.id))
        return next((one for one in tops if one.parent_id is None and one.title == title), None)

    def _new_root(self, feature: Feature) -> Task:
        return self.store.tasks.add(
            TaskDraft(
                title=_root_title(feature),
                description=f"The feature `{feature.name}`, as `{spec_of(feature.name)}` and"
                f" `{plan_of(feature.name)}` have it.",
                feature_id=feature.id,
                status=TaskStatus.BLOCKED,
                reason=UNDIVIDED,
            )
        )

    def _parts(self, feature: Feature, root: TaskId) -> list[Task]:
        """Its tasks, also those that a session did not put below the root."""
        strays = self.store.tasks.select(TaskFilter(feature=feature.id))
        return self.store.tasks.children(root) + [
            one for one in strays if one.parent_id is None and one.id != root
        ]

    def decomposed_root(self, feature: Feature) -> Task | None:
        """Its root, if it is completely divided into tasks."""
        root = self._root(feature)
        if root is None or not self.store.tasks.children(root.id) or _is_undivided(root):
            return None
        return root

    def release(self, feature: Feature) -> Task:
        """Its tasks are complete: put strays below the root, and unblock it."""
        root = self._root(feature)
        if root is None or not self._parts(feature, root.id):
            raise Missing(f"feature {feature.name} has no tasks", hint=_command(feature, "build"))
        for part in self._parts(feature, root.id):
            if part.parent_id is None:
                self.store.tasks.edit(part.id, TaskEdit(parent_id=root.id))
        if _is_undivided(root):
            self.store.tasks.apply(root.id, [Unblocked()])
        return self.store.tasks.find(root.id)


def _is_undivided(root: Task) -> bool:
    return root.status is TaskStatus.BLOCKED and root.reason == UNDIVIDED


def _root_title(feature: Feature) -> str:
    return f"Feature: {feature.name}"


def _command(feature: Feature, step: str) -> str:
    from shlex import quote

    return f"ralph feature {step} {quote(feature.name)}"
