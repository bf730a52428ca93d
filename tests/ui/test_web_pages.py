"""What the pages of `ralph serve` are made of, without a server."""

from typing import Any

from starlette.requests import Request

from ralph.core.agent_events import AgentEvent, ToolResult, ToolUse
from ralph.core.events import Warned
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.task import Task, TaskStatus
from ralph.ui.project_view import ProjectView
from ralph.ui.web import session_log
from ralph.ui.web.access import Keys
from ralph.ui.web.pages import Pages
from tests.async_run import run_async
from tests.contracts.store_test_helpers import add
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store


class BusyProject(ProjectView):
    """Something happens while a page is made."""

    def tasks(self, status: TaskStatus, limit: int, offset: int = 0) -> list[Task]:
        found = super().tasks(status, limit, offset)
        self.store.events.record(Warned(message="meanwhile"))
        return found


def no_command(*_: object) -> Any:
    raise AssertionError("no button was pressed")


def test_what_happens_while_a_page_is_made_is_news_for_it() -> None:
    store = memory_store(FrozenClock())
    view = BusyProject(
        store,
        "/x",
        is_alive=lambda _: True,
        budget=BudgetSection(),
        breaker=BreakerSection(),
    )
    pages = Pages(
        view,
        no_command,
        no_command,
        Keys.new(),
        project="x",
        is_read_only=False,
        now=FrozenClock().now,
    )
    add(store, "a")
    known = store.events.last_seq()
    scope = {"type": "http", "method": "GET", "path": "/tasks", "query_string": b"", "headers": []}
    page = run_async(pages.with_seq(pages.tasks)(Request(scope)))
    assert f'data-seq="{known}"'.encode() in bytes(page.body)
    assert [one.seq for one in view.feed(known).items] == [known + 1]


def test_what_a_failed_tool_printed_is_folded_like_other_answers() -> None:
    events: list[AgentEvent] = [
        ToolUse(name="Bash", summary="make"),
        ToolResult(text="1\n2 \x1b[31mred", error=True),
    ]
    called, failed = session_log.entries_of(events)
    assert called.kind == "tool"
    assert (failed.kind, failed.title, failed.text) == ("failure", "fails", "1\n2 red")
