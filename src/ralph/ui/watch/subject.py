"""What the tabs are about: the project, a need or a task, with its facts."""

from collections.abc import Sequence

import msgspec

from ralph.core.errors import NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.ui.attempt_view import Attempt
from ralph.ui.formatting import cost_text
from ralph.ui.needs import Need
from ralph.ui.project_view import Overview, ProjectView, TaskFacts
from ralph.ui.watch.panes import RELATED, bits
from ralph.ui.watch.task_tree import Key, OfNeed, OfTask, key_of_need

ATTEMPTS = 20


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    state: Overview
    now: float
    need: Need | None = None
    facts: TaskFacts | None = None
    """None: the project, or a need that is about no task."""
    attempts: Sequence[Attempt] = ()
    """The newest, oldest first."""

    @property
    def task(self) -> TaskId | None:
        return self.facts.task.id if self.facts is not None else None

    @property
    def title(self) -> str:
        if self.facts is not None:
            task = self.facts.task
            return one_line(f"{task.name} {task.title}", 500)
        return f"{self.need.subject}" if self.need is not None else "Overview"

    @property
    def summary(self) -> str:
        if self.facts is None:
            return self.need.kind.value if self.need is not None else ""
        working = next((one for one in self.state.working if one.task.id == self.task), None)
        stage = ""
        if working is not None and self.state.team is not None:
            found = (one for one in self.state.team.workers if one.task == self.task)
            stage = next((one.stage for one in found), "")
        spent = cost_text(self.facts.spent) if self.facts.spent.known_usd else ""
        return bits(stage or self.facts.status.value.replace("_", " "), spent)


def read_subject(view: ProjectView, state: Overview, key: Key | None, now: float) -> Subject:
    """The facts about what is selected; a task that was deleted meanwhile has none."""
    need = None
    task = key.task if isinstance(key, OfTask) else None
    if isinstance(key, OfNeed):
        need = next((one for one in state.needs if key_of_need(one) == key), None)
        task = need.task_id if need is not None else None
    if task is None:
        return Subject(state=state, now=now, need=need)
    try:
        facts = view.task(task, related=RELATED)
    except NoSuchTask:
        return Subject(state=state, now=now, need=need)
    attempts = tuple(view.attempts(task, ATTEMPTS))
    return Subject(state=state, now=now, need=need, facts=facts, attempts=attempts)
