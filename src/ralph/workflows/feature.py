"""A feature, from an idea to its tasks: spec, plan, build."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from ralph.core import feature_texts as texts
from ralph.core.errors import CannotWrite, Missing, NoSuchTask
from ralph.core.feature_texts import Subject
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.task import Draft, Edit, Feature, Status, Task
from ralph.core.transitions import Unblocked
from ralph.documents.feature_files import can_name_a_folder, folder_of, named, plan_of, spec_of
from ralph.files import remove_tree, walk
from ralph.ports.store import Filter, Store
from ralph.workflows.errand import Errand

UNDIVIDED = "it is not broken down into tasks yet"


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """Where a feature is worked on: its project's folder, and the store."""

    store: Store
    root: str

    def open(self, name: str) -> Feature:
        """The feature of that name, new or known, its documents as they are on disk now."""
        feature = self.store.add_feature(named(name))
        return self._noted(feature)

    @contextmanager
    def opened(self, name: str) -> Iterator[Feature]:
        """The same for a first step; if something is missing for that, a new one is forgotten."""
        is_new = self.store.feature(named(name)) is None
        feature = self.open(name)
        try:
            yield feature
        except Missing:
            if is_new:
                self.store.delete_feature(feature.id)
            raise

    def find(self, name: str) -> Feature:
        """The feature of that name, or NoSuchTask. One that somebody has written down by hand is
        known by its documents."""
        feature = self.store.feature(name)
        if feature is None and can_name_a_folder(name) and self._has_any(name):
            return self.open(name)
        if feature is None:
            names = ", ".join(one.name for one in self.store.features()[:10])
            raise NoSuchTask(
                f"there is no feature {name}",
                hint=f"features: {names}" if names else f"ralph feature spec {name}",
            )
        return self._noted(feature)

    def _noted(self, feature: Feature) -> Feature:
        if not can_name_a_folder(feature.name):
            return feature
        spec, plan = spec_of(feature.name), plan_of(feature.name)
        found = [self._path(spec, feature.spec_path), self._path(plan, feature.plan_path)]
        if found == [feature.spec_path, feature.plan_path]:
            return feature
        return self.store.document_feature(feature.id, spec_path=found[0], plan_path=found[1])

    def _path(self, usual: str, known: str | None) -> str | None:
        """Where a document is: a goal's are elsewhere."""
        return next((path for path in (known, usual) if path and self.has(path)), None)

    def _has_any(self, name: str) -> bool:
        return self.has(spec_of(name)) or self.has(plan_of(name))

    def has(self, path: str) -> bool:
        """Is there a document with something in it?"""
        try:
            return os.path.getsize(os.path.join(self.root, path)) > 0
        except OSError:
            return False

    def subject(self, feature: Feature, request: str = "") -> Subject:
        """The feature as sessions are told of it."""
        spec, plan = spec_of(feature.name), plan_of(feature.name)
        return Subject(
            name=feature.name,
            spec=spec,
            plan=plan,
            request=request.strip(),
            has_spec=self.has(spec),
            has_plan=self.has(plan),
        )

    def documents(self, feature: Feature) -> list[str]:
        """What is in its folder, from the project's root."""
        if not can_name_a_folder(feature.name):
            return []
        folder = os.path.join(self.root, folder_of(feature.name))
        found = [os.path.join(at, name) for at, _, names in walk(folder) for name in names]
        return sorted(os.path.relpath(path, self.root) for path in found)

    def remove_documents(self, feature: Feature) -> None:
        """Take its folder away, with all that is in it."""
        try:
            remove_tree(os.path.join(self.root, folder_of(feature.name)))
        except OSError as error:
            raise CannotWrite(
                f"{folder_of(feature.name)} cannot be removed: {error.strerror}"
            ) from error

    # What must be there first

    def require_spec(self, feature: Feature) -> None:
        """A plan is the plan of something."""
        if not self.has(spec_of(feature.name)):
            raise Missing(
                f"feature {feature.name} has no spec ({spec_of(feature.name)})",
                hint=f"ralph feature spec {_word(feature.name)}",
            )

    def require_plan(self, feature: Feature) -> None:
        """Tasks come from a plan."""
        self.require_spec(feature)
        if not self.has(plan_of(feature.name)):
            raise Missing(
                f"feature {feature.name} has no plan ({plan_of(feature.name)})",
                hint=f"ralph feature plan {_word(feature.name)}",
            )

    # The three steps, as errands

    def spec_errand(self, feature: Feature, request: str) -> Errand:
        """Write the spec without asking."""
        subject = self.subject(feature, request)
        if not subject.request:
            raise Missing(
                f"nobody can be asked what {feature.name} is to be",
                hint='say it: --request "…", --file FILE, or on standard input',
            )
        return Errand(
            alias=f"{feature.name}-spec",
            title=f"Write the spec of {feature.name}",
            description=texts.write_spec(subject),
            phase=Phase.DISCOVERY,
            missing=lambda: self._lacks(subject.spec),
            command=f"ralph feature spec {_word(feature.name)}",
            feature=feature.name,
        )

    def plan_errand(self, feature: Feature, request: str) -> Errand:
        """Write the plan without asking."""
        self.require_spec(feature)
        subject = self.subject(feature, request)
        return Errand(
            alias=f"{feature.name}-plan",
            title=f"Write the plan of {feature.name}",
            description=texts.write_plan(subject),
            phase=Phase.PLANNING,
            missing=lambda: self._lacks(subject.plan),
            command=f"ralph feature plan {_word(feature.name)}",
            feature=feature.name,
        )

    def build_errand(self, feature: Feature) -> Errand:
        """Break it down into tasks, below a root that is held back until they are all there."""
        self.require_plan(feature)
        root = self._root(feature) or self._new_root(feature)
        return Errand(
            alias=f"{feature.name}-build",
            title=f"Break {feature.name} down into tasks",
            description=texts.break_down(self.subject(feature), root.id),
            phase=Phase.PLANNING,
            missing=lambda: "" if self._parts(feature, root.id) else f"no task is below {root.id}",
            command=f"ralph feature build {_word(feature.name)}",
            feature=feature.name,
        )

    def _lacks(self, path: str) -> str:
        return "" if self.has(path) else f"there is no {path}, or nothing is in it"

    # The root

    def _root(self, feature: Feature) -> Task | None:
        title = _root_title(feature)
        tops = self.store.tasks(Filter(feature=feature.id))
        return next((one for one in tops if one.parent_id is None and one.title == title), None)

    def _new_root(self, feature: Feature) -> Task:
        return self.store.add_task(
            Draft(
                title=_root_title(feature),
                description=texts.root_description(self.subject(feature)),
                feature_id=feature.id,
                status=Status.BLOCKED,
                reason=UNDIVIDED,
            )
        )

    def _parts(self, feature: Feature, root: TaskId) -> list[Task]:
        """Its tasks, also those that a session has forgotten to put below the root."""
        strays = self.store.tasks(Filter(feature=feature.id))
        return self.store.children(root) + [
            one for one in strays if one.parent_id is None and one.id != root
        ]

    def divided(self, feature: Feature) -> Task | None:
        """Its root, if it is broken down into tasks for good."""
        root = self._root(feature)
        if root is None or not self.store.children(root.id) or _is_undivided(root):
            return None
        return root

    def release(self, feature: Feature) -> Task:
        """All its tasks are there: put strays below the root, and let them be done."""
        root = self._root(feature)
        if root is None or not self._parts(feature, root.id):
            raise Missing(
                f"feature {feature.name} has no tasks",
                hint=f"ralph feature build {_word(feature.name)}",
            )
        for part in self._parts(feature, root.id):
            if part.parent_id is None:
                self.store.edit_task(part.id, Edit(parent_id=root.id))
        if _is_undivided(root):
            self.store.apply(root.id, [Unblocked()])
        return self.store.find(root.id)


def _is_undivided(root: Task) -> bool:
    return root.status is Status.BLOCKED and root.reason == UNDIVIDED


def _root_title(feature: Feature) -> str:
    return f"Feature: {feature.name}"


def _word(name: str) -> str:
    from shlex import quote

    return quote(name)
