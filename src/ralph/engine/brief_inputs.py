"""Collect what the store and the project's files contain about a task, for its brief."""

import os
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from ralph.core.brief import (
    BriefDocuments,
    BriefInputs,
    DocumentText,
    Guardrail,
    Prerequisite,
    Skill,
    WrittenBrief,
    write_brief,
    write_rules,
)
from ralph.core.errors import UnusableData
from ralph.core.ids import TaskId
from ralph.core.memory_selection import notes_of_task, related_memories, significant_words
from ralph.core.message_tags import read_message_tags
from ralph.core.run import AllTasks, OneFeature, Subtree, Target
from ralph.core.safe_text import first_few_paths, one_line
from ralph.core.settings import Config
from ralph.core.task import Feature, Task, TaskStatus
from ralph.core.verdict import FAILURES
from ralph.documents import guardrails, skills
from ralph.documents.feature_files import can_name_a_folder, plan_of, spec_of
from ralph.documents.log_files import final_message_text
from ralph.files import or_cannot_write, write_regular
from ralph.ports.agent import Brief, brief_with_rules
from ralph.ports.project_files import ProjectFiles
from ralph.store.store import Store

MOST_SKILLS: Final = 100
"""More than a session can read; each of them is a file to open."""


class BriefDocumentReader:
    """Reads the documents, and keeps the last guardrails that were readable."""

    def __init__(
        self,
        project_files: ProjectFiles,
        path: str = guardrails.PATH,
        *,
        guardrails_in: ProjectFiles | None = None,
    ) -> None:
        """`path` has the guardrails; `guardrails_in`: where the workers of a team share them."""
        self._project_files = project_files
        self._path = path
        self._guardrails_in = guardrails_in or project_files
        self._guardrails: tuple[Guardrail, ...] = ()

    def read_documents(self, feature: Feature | None, config: Config) -> BriefDocuments:
        """All documents for a task of this feature. Those that cannot be read are listed."""
        troubles: list[str] = []
        spec = plan = ""
        if feature is not None:
            spec = feature.spec_path or _default_path(feature, spec_of)
            plan = feature.plan_path or _default_path(feature, plan_of)
        return BriefDocuments(
            spec=self._document(spec, troubles),
            plan=self._document(plan, troubles),
            skills=self._skills(troubles),
            guardrails=self._read_guardrails(troubles) if config.memory.enabled else (),
            references=self._references(config.specs.dirs),
            error_lines=tuple(troubles),
        )

    def _document(self, path: str, troubles: list[str]) -> DocumentText | None:
        if not path:
            return None
        found = self._project_files.read(path)
        if found.trouble:
            troubles.append(found.trouble)
        return None if found.text is None else DocumentText(path=path, text=found.text)

    def _skills(self, troubles: list[str]) -> tuple[Skill, ...]:
        names = self._project_files.folders(skills.FOLDER)
        if len(names) > MOST_SKILLS:
            troubles.append(f"{skills.FOLDER} has {len(names)} skills; {MOST_SKILLS} are looked at")
        found = []
        for name in names[:MOST_SKILLS]:
            document = self._document(skills.path_of(name), troubles)
            try:
                if document is not None:
                    found.append(skills.read(name, document.text))
            except UnusableData as wrong:
                troubles.append(f"skill {skills.path_of(name)} is skipped: {wrong}")
        return tuple(found)

    def _read_guardrails(self, troubles: list[str]) -> tuple[Guardrail, ...]:
        found = self._guardrails_in.read(self._path)
        if found.trouble:
            # Better those of before than none.
            troubles.append(found.trouble)
        else:
            self._guardrails = guardrails.read(found.text or "")
        return self._guardrails

    def _references(self, folders: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            f"{folder}/{name}"
            for folder in (folder.rstrip("/") for folder in folders if folder.strip())
            for name in self._project_files.files(folder, ".md")
        )


def _default_path(feature: Feature, place: Callable[[str], str]) -> str:
    """The usual place of a document; none for a feature whose name can name no folder."""
    return place(feature.name) if can_name_a_folder(feature.name) else ""


RECALLED: Final = 30
"""Memories to choose from: more than fit."""
OWN: Final = 50
FILES: Final = 10
"""Of a blocker that are named."""


def write_rules_and_brief(
    inputs: BriefInputs, config: Config, *, builds: bool = True
) -> tuple[str, WrittenBrief]:
    """Write rules and brief within the token limit. `builds`: false for a document's session."""
    rules = write_rules(
        agent_commits=config.git.commit == "auto",
        learn=config.execution.learn,
        memory=config.memory.enabled,
        builds=builds,
    )
    return rules, write_brief(inputs, config, rules)


def gather_brief_inputs(
    store: Store,
    reader: BriefDocumentReader,
    task: Task,
    *,
    config: Config,
    target: Target,
    gates: tuple[str, ...] = (),
    guidance: tuple[str, ...] = (),
) -> BriefInputs:
    if not task.reason:
        task = replace(task, reason=last_failure(store, task.id))
    parent = store.tasks.find(task.parent_id) if task.parent_id else None
    done = [one for one in store.tasks.blockers(task.id) if one.status is TaskStatus.DONE]
    known = BriefInputs(
        task=task,
        parent=parent,
        prerequisites=tuple(
            Prerequisite(id=one.id, title=one.title, summary=_task_summary(store, one))
            for one in done
        ),
        documents=reader.read_documents(feature_of(store, task, parent, target), config),
        gates=gates,
        guidance=guidance,
    )
    return _with_memories(store, known) if config.memory.enabled else known


def last_failure(store: Store, task: TaskId) -> str | None:
    """Why the last attempt did not count, also after the task was reset or unblocked."""
    for last in store.sessions.attempt_records(task=task, limit=1):
        if last.judged in FAILURES and last.notes:
            return last.notes[0].removeprefix(f"attempt {last.attempt}: ")
    return None


def feature_of(store: Store, task: Task, parent: Task | None, target: Target) -> Feature | None:
    """Whose specification and plan hold for a task: its own feature's, otherwise that of what it is
    part of, otherwise that of the run."""
    for one in (task, parent):
        if one is not None and one.feature_id is not None:
            return store.features.get(one.feature_id)
    match target:
        case AllTasks():
            return None
        case OneFeature(feature=feature):
            return store.features.get(feature)
        case Subtree(root):
            top = store.tasks.find(root)
            return store.features.get(top.feature_id) if top.feature_id is not None else None


def _with_memories(store: Store, known: BriefInputs) -> BriefInputs:
    task = known.task
    known_ids = {one.id for one in known.prerequisites}
    recalled = store.memories.search(significant_words(task.title, task.description), RECALLED)
    return replace(
        known,
        notes=tuple(notes_of_task(task, store.memories.select(task=task.id, limit=OWN))),
        memories=tuple(related_memories(task, recalled, known_ids)),
    )


def _task_summary(store: Store, task: Task) -> str:
    """Its journal or last words, otherwise its parts; and the files that it has changed."""
    session = store.sessions.get(task.id, task.attempt)
    message = session.ending.message if session is not None and session.ending else ""
    said = read_message_tags(message).journal or final_message_text(message)
    below = store.tasks.subtree(task.id)[1:]
    if not said:
        said = "; ".join(one.title for one in below) or task.description
        # A verdict says nothing about the work.
        for entry in store.tasks.logs(task.id, limit=1):
            if not entry.message.startswith(f"attempt {task.attempt}: "):
                said = entry.message
    paths = list(dict.fromkeys(path for one in (task, *below) for path in one.files))
    files = f" (files: {first_few_paths(paths, FILES)})" if paths else ""
    return f"{one_line(said, 400)}{files}".strip()


def write_brief_files(brief: Brief) -> None:
    _write(brief.path, brief_with_rules(brief))
    _write(brief.rules_path, brief.rules)


def _write(path: str, text: str) -> None:
    hint = "look at the disk, and at what is in the place of its folder"
    with or_cannot_write(f"write {path}", hint):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_regular(path, text.encode("utf-8", "replace"))
