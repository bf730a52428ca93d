"""A project at work, and the terminal view of it without a terminal."""

import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from textual.app import App
from textual.pilot import Pilot

from ralph.core.agent_events import AgentEvent, AgentStarted, Text, ToolResult, ToolUse
from ralph.core.gates import GateResult
from ralph.core.ids import TaskId
from ralph.core.review_thread import CommentAnswer, FindingState, LineComment, LineRange
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.times import to_iso
from ralph.core.transitions import Blocked, Rejected
from ralph.ports.executor import CommandOutput
from ralph.ports.merge_branch import BranchBehind
from ralph.store.claims import Claim
from ralph.store.sessions import Session
from ralph.ui.project_view import ProjectView
from ralph.ui.session_stream import stream_of
from ralph.ui.watch.app import WatchApp
from ralph.ui.web.writes import CommandLine
from tests.async_run import run_async
from tests.contracts.store_test_helpers import add, begin, claim, start
from tests.contracts.view_contract import attempt
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

RED = GateResult(name="test", passed=False, code=2, output="FAILED test_total - assert 3 == 4")
GREEN = GateResult(name="test", passed=True, code=0)
DIFF = """diff --git a/shop.py b/shop.py
index 1..2 100644
--- a/shop.py
+++ b/shop.py
@@ -1,4 +1,5 @@ def total
 def price(item):
-    return item
+    return item.price
+
 def total(items):
     return sum(items)
"""


class Watched:
    """Does to the project what runs and people do, and looks at its screen."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FrozenClock()
        self.store = memory_store(self.clock)
        self.ran: list[CommandLine] = []
        """The commands of Ralph that the view has run."""
        self.answers = CommandOutput(code=0, stdout=b"", stderr=b"")
        self.diff = DIFF
        self.is_alive = True
        self.behind: list[BranchBehind] = []
        self.view = ProjectView(
            self.store,
            str(root),
            is_alive=lambda _: self.is_alive,
            now=self.clock.now,
            budget=BudgetSection(),
            breaker=BreakerSection(),
            behind=lambda: self.behind,
        )

    def ralph(self, words: tuple[str, ...], stdin: bytes) -> CommandOutput:
        if words[0] == "diff":
            return CommandOutput(code=0, stdout=self.diff.encode(), stderr=b"")
        self.ran.append(CommandLine(words, stdin))
        return self.answers

    def start(self, words: tuple[str, ...]) -> CommandOutput:
        self.ran.append(CommandLine(words, is_run=True))
        return CommandOutput(code=0, stdout=b"a run is at work", stderr=b"")

    def at_work(self, log: str = "work.log", *events: AgentEvent) -> tuple[Session, Claim]:
        """A session of the next task is at work, and has said something."""
        taken = claim(self.store)
        session = start(self.store, taken, started_at=to_iso(self.clock.now()), log=log)
        self.says(log, *events)
        return session, taken

    def says(self, log: str, *events: AgentEvent) -> None:
        with open(self.root / stream_of(log), "ab") as file:
            file.writelines(msgspec.json.encode(event) + b"\n" for event in events)

    def comment(self, task: TaskId) -> LineComment:
        """A person comments on a line of its first attempt."""
        comment = LineComment(
            task_id=task,
            about=task,
            attempt=1,
            lines=LineRange(path="shop.py", first=2, last=2),
            excerpt="    return item.price",
            text="why not a property?",
            at="tree",
        )
        (made,) = self.store.reviews.comment(task, [comment])[1]
        return made

    def app(self, **options: Any) -> WatchApp:
        return WatchApp(
            self.view, self.ralph, self.start, project="shop", now=self.clock.now, **options
        )

    def screen(self, *keys: str, size: tuple[int, int] = (80, 24), **options: Any) -> str:
        """What is on the screen after these keys."""
        shown = ""

        async def look(app: WatchApp, pilot: Pilot[None]) -> None:
            nonlocal shown
            await typed(pilot, *keys)
            shown = text_of(app)

        self.play(look, size=size, **options)
        return shown

    def play(
        self,
        act: Callable[[WatchApp, Pilot[None]], Awaitable[None]],
        size: tuple[int, int] = (80, 24),
        **options: Any,
    ) -> WatchApp:
        app = self.app(**options)

        async def run() -> None:
            async with app.run_test(size=size) as pilot:
                await settled(pilot)
                await act(app, pilot)

        run_async(run())
        return app


async def typed(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each when all that follows from the one before is on the screen."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def settled(pilot: Pilot[None]) -> None:
    """Until nothing is at work and nothing changes any more, however slow the machine is."""
    before = ""
    while pilot.app.workers or before != (before := text_of(pilot.app)):
        await pilot.pause()


def text_of(app: App[None]) -> str:
    """The characters on the screen."""
    width, height = app.size
    console = Console(width=width, height=height, file=io.StringIO(), record=True)
    console.print(
        app.screen._compositor.render_update(
            full=True,
            screen_stack=app._background_screens,
        )
    )
    return "\n".join(line.rstrip() for line in console.export_text().splitlines()[:height]) + "\n"


def a_shop(root: Path) -> Watched:
    """Tasks in every state: two are done, one has failed, one is blocked, one is at work."""
    shop = Watched(root)
    store, clock = shop.store, shop.clock
    begin(store)
    add(store, "1", description="Read prices.csv.\nRefuse a line without a price.")
    attempt(store, clock, Rejected("gate test fails (exit 2): assert 3 == 4"), gates=(RED,))
    comment = shop.comment(TaskId("t-1"))
    lines = LineRange(path="shop.py", first=2, last=3)
    answer = CommentAnswer(state=FindingState.ADDRESSED, attempt=2, lines=lines, text="@property")
    store.reviews.answer(comment, answer, 2)
    attempt(store, clock, gates=(GREEN,), log="first.log")
    shop.says("first.log", Text(text="I read the prices."))
    checkout = add(store, "2")
    basket = add(store, "basket", under=checkout)
    attempt(store, clock, gates=(GREEN,))
    assert store.tasks.find(basket).status == "done"
    add(store, "total", under=checkout, after=[basket])
    failed = add(store, "3", max_retries=0, priority=-1)
    attempt(store, clock, Rejected("there is no API for this; ask the shop's owner"), gates=(RED,))
    assert store.tasks.find(failed).status == "failed"
    blocked = add(store, "4")
    store.tasks.apply(blocked, [Blocked("waits for the designer's logo")])
    shop.at_work(
        "work.log",
        AgentStarted(model="opus"),
        Text(text="I look at the basket first."),
        ToolUse(name="Bash", summary="pytest -q tests/test_total.py", call="1"),
        ToolResult(call="1", text="1 passed"),
    )
    clock.advance(125)
    return shop
