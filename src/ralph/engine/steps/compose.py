"""Step 2: write down what the session is told."""

import os

from ralph.core.brief import Material, Prerequisite, write_brief, write_rules
from ralph.core.errors import CannotWrite
from ralph.core.safe_text import one_line
from ralph.core.task import Status, Task
from ralph.engine.choosing import choose_model
from ralph.engine.kit import Kit
from ralph.ports.agent import Brief, with_rules
from ralph.ports.store import Claim


def compose(kit: Kit, claim: Claim) -> Brief:
    """The brief, also as a file beside the session's log."""
    task = claim.task
    guidance = tuple(kit.store.guidance(task.id, claim.attempt))
    if guidance:
        kit.publish()
    known = material(kit, task, guidance)
    brief = Brief(
        task_id=task.id,
        title=task.title,
        alias=task.alias,
        attempt=claim.attempt,
        run_id=kit.settings.run_id,
        text=write_brief(known),
        path=kit.files + ".prompt.md",
        checkout=kit.workspace.path,
        rules=write_rules(known),
        rules_path=kit.files + ".rules.md",
        terms=choose_model(kit, task),
    )
    _write(brief.path, with_rules(brief))
    _write(brief.rules_path, brief.rules)
    return brief


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(
            f"cannot write {path}: {error.strerror}",
            hint="look at the disk, and at what is in the place of its folder",
        ) from error


def material(kit: Kit, task: Task, guidance: tuple[str, ...]) -> Material:
    """What is known about the task."""
    store = kit.store
    blockers = [one for one in store.blockers(task.id) if one.status is Status.DONE]
    return Material(
        task=task,
        parent=store.find(task.parent_id) if task.parent_id else None,
        prerequisites=tuple(
            Prerequisite(id=one.id, title=one.title, summary=_left_behind(kit, one))
            for one in blockers
        ),
        gates=tuple(gate.command for gate in kit.settings.gates),
        guidance=guidance,
        agent_commits=kit.settings.commit == "auto",
    )


def _left_behind(kit: Kit, task: Task) -> str:
    logs = kit.store.logs(task.id, limit=1)
    return one_line(logs[-1].message if logs else task.description, 400)
