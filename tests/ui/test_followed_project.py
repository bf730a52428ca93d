"""A project that is followed from another process, for views that stay open."""

from pathlib import Path

import msgspec
import pytest

from ralph.core.agent_events import Text
from ralph.core.events import Warned
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, TaskId
from ralph.core.run import AllTasks, RunOutcome
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.transitions import Blocked
from ralph.store.messages import ControlWord
from ralph.store.store import Store
from ralph.ui.followed_project import FollowedProject
from ralph.ui.project_view import LOOKED_AT, FeedPage, ProjectView
from ralph.ui.session_stream import stream_of
from tests.contracts.store_test_helpers import (
    OTHER,
    RUN,
    WORKER,
    a_session,
    add,
    begin,
    claim,
    settle,
)
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

LATER = RunId("run-2")


@pytest.fixture
def store() -> Store:
    return memory_store(FrozenClock())


@pytest.fixture
def view(store: Store, tmp_path: Path) -> ProjectView:
    return ProjectView(
        store,
        str(tmp_path),
        is_alive=lambda _: True,
        budget=BudgetSection(),
        breaker=BreakerSection(),
    )


def speak(root: Path, log: str, *said: str) -> None:
    with (root / stream_of(log)).open("ab") as file:
        for text in said:
            file.write(msgspec.json.encode(Text(text=text)) + b"\n")


def last_words(followed: FollowedProject) -> list[str]:
    tasks = followed.run_view.team.tasks.values()
    return [action.text for task in tasks for action in task.activity.actions]


def test_what_a_session_says_is_seen_while_it_works(
    store: Store, view: ProjectView, tmp_path: Path
) -> None:
    begin(store)
    add(store, "a")
    speak(tmp_path, "a.log", "before")
    followed = FollowedProject(view)
    taken = claim(store)
    store.sessions.start(a_session(taken, log="a.log"), taken)
    followed.update()
    assert last_words(followed) == ["before"]
    speak(tmp_path, "a.log", "more")
    followed.update()
    assert last_words(followed) == ["before", "more"]
    again = FollowedProject(view)
    again.update()
    assert last_words(again) == ["before", "more"], "also by one who comes later"
    settle(store, taken)
    followed.update()
    assert followed.overview().counts.done == 1
    assert followed.seq == store.events.last_seq()


def test_a_run_is_followed_to_its_end_and_then_the_next_one(
    store: Store, view: ProjectView
) -> None:
    begin(store)
    followed = FollowedProject(view)
    begin(store, LATER, OTHER)
    followed.update()
    assert followed.run == RUN, "a run beside it does not hide it"
    store.runs.end(RUN, RunOutcome.COMPLETE, "", Warned(message="end"))
    begin(store, RunId("run-3"))
    followed.update()
    assert followed.run == "run-3"


class CountedPages(ProjectView):
    pages = 0

    def feed(self, after: int, limit: int = 500) -> FeedPage:
        self.pages += 1
        return super().feed(after, limit)


def test_after_a_long_absence_only_the_newest_events_are_read(store: Store, tmp_path: Path) -> None:
    view = CountedPages(
        store,
        str(tmp_path),
        is_alive=lambda _: True,
        budget=BudgetSection(),
        breaker=BreakerSection(),
    )
    begin(store)
    followed = FollowedProject(view)
    many = [Warned(message=str(number)) for number in range(LOOKED_AT)]
    store.events.db.write(lambda: store.events.emit_all(many))
    add(store, "a")
    store.claims.claim(WORKER, RUN, AllTasks(), Schedule.PRIORITY)
    (one,) = followed.refreshed().working
    assert one.task.title == "a"
    assert [*followed.run_view.team.tasks] == ["t-a"]
    assert followed.seq == store.events.last_seq()
    assert view.pages == 1


def test_one_who_comes_later_sees_what_one_who_follows_sees(
    store: Store, view: ProjectView
) -> None:
    add(store, "before")
    store.tasks.apply(TaskId("t-before"), [Blocked("not now")])
    begin(store)
    followed = FollowedProject(view)
    a = add(store, "a")
    store.claims.claim(WORKER, RUN, AllTasks(), Schedule.PRIORITY)
    store.tasks.apply(a, [Blocked("a person takes it out")])
    store.messages.send_control(RUN, ControlWord.PAUSE)
    followed.update()
    later = FollowedProject(view)
    assert [*later.run_view.team.tasks] == [*followed.run_view.team.tasks] == []
    assert later.run_view.state == followed.run_view.state == "pausing"
    assert later.overview() == followed.overview() == view.overview()
