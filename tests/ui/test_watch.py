"""`ralph watch`: what is on its screen, and what its keys do.

The screens are kept as text; RALPH_TEST_DRAW=yes draws them again.
"""

import json
import os
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ralph.core.agent_events import Text
from ralph.core.errors import UnusableData
from ralph.core.events import RunPaused
from ralph.core.ids import TaskId
from ralph.core.task import TaskEdit
from ralph.ports.executor import CommandOutput
from ralph.ports.merge_branch import BranchBehind
from ralph.ui.needs import WaitingPlan
from ralph.ui.watch.app import WatchApp
from ralph.ui.watch.task_tree import PAGE
from ralph.ui.web.writes import CommandLine, command_of
from tests.contracts.store_test_helpers import RUN, add
from tests.ui.watched_project import DIFF, Watched, a_shop, text_of, typed

SCREENS = Path(__file__).parent / "watch_screens"
DRAWS = bool(os.environ.get("RALPH_TEST_DRAW"))
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x50": (200, 50)}
KEYS = {
    "overview": (),
    "need": ("down",),
    "live": ("down", "down", "down"),
    "evidence": ("slash", *"t-1", "enter", "2"),
    "diff": ("slash", *"t-1", "enter", "3", "left_square_bracket"),
    "costs": ("5",),
    "log": ("4",),
    "help": ("question_mark",),
    "inject": ("i",),
    "answer": ("down", "a"),
}


@pytest.fixture
def shop(tmp_path: Path, utc: None) -> Watched:
    return a_shop(tmp_path)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, "80x24") for name in KEYS),
        *((name, size) for name in ("overview", "evidence", "diff") for size in [*SIZES][1:]),
    ],
)
def test_the_screens_are_as_they_were(shop: Watched, name: str, size: str) -> None:
    shown = shop.screen(*KEYS[name], size=SIZES[size])
    file = SCREENS / f"{name}-{size}.txt"
    if DRAWS:
        file.parent.mkdir(exist_ok=True)
        file.write_text(shown)
    assert shown == file.read_text()


def test_p_pauses_the_run_and_lets_it_go_on(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        await typed(pilot, "p")
        shop.store.events.db.write(
            lambda: shop.store.events.emit(
                RunPaused(run_id=RUN, reason="a person asked for it"), RUN
            )
        )
        app.look()
        await pilot.pause()
        assert "‖ paused: a person asked for it" in text_of(app)
        await typed(pilot, "p")

    shop.play(act)
    assert shop.ran == [CommandLine(("pause",)), CommandLine(("resume",))]


@pytest.mark.parametrize(
    ("keys", "fields"),
    [
        (("r",), {"do": "retry", "task": "t-3"}),
        (("s", *"later", "enter"), {"do": "skip", "task": "t-3", "reason": "later"}),
        (("s", "enter"), {"do": "skip", "task": "t-3"}),
        (
            ("i", *"go", "ctrl+j", *"on", "enter"),
            {"do": "inject", "task": "t-3", "message": "go\non"},
        ),
    ],
)
def test_its_keys_run_the_commands_of_the_page(
    shop: Watched, keys: tuple[str, ...], fields: dict[str, str]
) -> None:
    shop.screen(*keys, task=TaskId("t-3"))
    assert shop.ran == [command_of(fields)]


def test_guidance_for_no_task_is_for_the_next_one(shop: Watched) -> None:
    shop.screen("i", *"hi", "enter")
    assert shop.ran == [command_of({"do": "inject", "message": "hi"})]


def test_escape_leaves_a_dialog_and_q_leaves_the_view_without_a_command(shop: Watched) -> None:
    shop.screen("i", *"hi", "escape", "s", "down", "s", "escape", "question_mark", "escape", "q")
    assert shop.ran == []


def test_a_comment_is_about_the_selected_lines(shop: Watched) -> None:
    shown = shop.screen(
        *("c", "left_square_bracket", "down", "shift+down", "shift+down", "c", *"why?", "enter"),
        task=TaskId("t-1"),
    )
    ((words, stdin, _),) = shop.ran
    assert words == ("review", "comment", "--attempt=1", "--from=-", "--", "t-1")
    assert json.loads(stdin) == [
        {"path": "shop.py", "first": 2, "last": 3, "side": "new", "text": "why?"}
    ]
    assert "done" in shown.splitlines()[-2]


def test_what_happens_meanwhile_leaves_the_lines_selected(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        await typed(pilot, "c", "left_square_bracket", "down", "shift+down")
        app.look()
        await typed(pilot, "shift+down", "c", *"why?", "enter")

    shop.play(act, task=TaskId("t-1"))
    ((_, stdin, _),) = shop.ran
    assert [json.loads(stdin)[0][name] for name in ("first", "last")] == [2, 3]


def test_a_comment_goes_to_a_file_with_an_odd_name(shop: Watched) -> None:
    shop.diff = DIFF.replace("shop.py", "100%25 \u202e\x9b.py")
    keys = ("c", "left_square_bracket", "down", "c")
    assert "on 100%25 \ufffd\ufffd.py:2" in shop.screen(*keys, task=TaskId("t-1"))
    shop.screen(*keys, *"why?", "enter", task=TaskId("t-1"))
    ((_, stdin, _),) = shop.ran
    assert json.loads(stdin)[0]["path"] == "100%25 \u202e\x9b.py"


def test_removed_lines_can_be_commented_on(shop: Watched) -> None:
    shop.screen("c", "down", "c", *"why?", "enter", task=TaskId("t-1"))
    ((_, stdin, _),) = shop.ran
    assert json.loads(stdin) == [
        {"path": "shop.py", "first": 2, "last": 2, "side": "old", "text": "why?"}
    ]


def test_an_answer_to_a_need_is_run_or_leads_to_what_there_is_to_see(shop: Watched) -> None:
    shop.screen("down", "a", "down", "enter")
    assert shop.ran == [CommandLine(("task", "retry", "t-3"))]
    shop.view._plans = lambda: [WaitingPlan(name="tea", path="plan.md", approve="ralph go")]
    assert "a run is at work" in shop.screen("down", "a", "enter")
    assert shop.ran[1:] == [CommandLine(("go",), is_run=True)]
    assert "✗ gates" in shop.screen("down", "down", "a", "enter")
    assert len(shop.ran) == 2


def test_a_git_command_that_is_needed_is_left_to_a_shell(shop: Watched) -> None:
    shop.is_alive = False
    shop.behind = [BranchBehind(branch="main", command="git merge tip")]
    assert "in a shell: git merge tip" in shop.screen("down", "a", "enter")
    assert shop.ran == []


def test_a_refusal_is_shown_with_all_of_its_way_out(shop: Watched) -> None:
    remedy = f"ralph: task t-3 is done\nhint: {'a long way out ' * 9}ends here"
    shop.answers = CommandOutput(code=64, stdout=b"", stderr=remedy.encode())
    shown = shop.screen("r", task=TaskId("t-3"))
    assert "ralph: task t-3 is done" in shown
    assert "ends here" in " ".join(shown.split())


def test_keys_that_need_a_task_say_so(shop: Watched) -> None:
    for key, said in (("r", "select a task to retry"), ("s", "select a task to skip")):
        assert said in shop.screen(key)
    assert "nothing about this needs you" in shop.screen("a")
    assert shop.ran == []


def test_it_follows_what_happens(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        await typed(pilot, "down", "down", "down")
        shop.says("work.log", Text(text="Now I add the numbers."))
        shop.says("work.log", Text(text="and so", partial=True))
        app.beat()
        await pilot.pause()
        assert "Now I add the numbers." in text_of(app)
        assert "and so …" in text_of(app)
        shop.says("work.log", Text(text="and so on."))
        app.beat()
        add(shop.store, "new")
        app.look()
        await pilot.pause()
        shown = text_of(app)
        assert "and so on." in shown
        assert "and so …" not in shown
        assert "· new" in shown

    shop.play(act)


def test_a_task_that_is_deleted_while_it_is_selected(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        await typed(pilot, "2")
        shop.store.tasks.delete(TaskId("t-4"))
        app.look()
        await typed(pilot, "1", "3", "4", "5")
        assert "! t-4" not in text_of(app)

    shop.play(act, task=TaskId("t-4"))


def test_the_history_is_shown_without_a_run(shop: Watched) -> None:
    shop.is_alive = False
    shown = shop.screen()
    assert "last run died; ralph run goes on" in shown
    assert "no run holds it; the next one goes on" in " ".join(shown.replace("│", " ").split())
    only = shop.screen(run=shop.store.runs.get(RUN), size=(120, 40))
    assert "Tasks of this run" in only
    assert "‖ 4" not in only


def test_it_begins_with_a_task_wherever_that_is(shop: Watched) -> None:
    assert "t-total total" in shop.screen(task=TaskId("t-total"))
    for number in range(PAGE):
        add(shop.store, f"more-{number}")
    far = add(shop.store, "far")
    shown = shop.screen(task=far)
    assert "t-far far" in shown
    assert "Tasks like t-far" in shown


def test_an_empty_project_says_how_to_begin(tmp_path: Path) -> None:
    shown = Watched(tmp_path).screen()
    assert 'ralph "what you want"' in shown
    assert "nothing has run yet" in shown
    assert "  none yet" in shown
    for key in "2345":
        assert Watched(tmp_path).screen(key)


def test_branches_open_and_close(shop: Watched) -> None:
    parent = TaskId("t-2")
    assert "✓ basket" not in shop.screen(task=parent)
    opened = shop.screen("right", task=parent)
    assert "▾ ● 2" in opened
    assert "✓ basket" in opened
    assert "✓ basket" not in shop.screen("right", "down", "left", "left", task=parent)


def test_a_long_level_is_read_in_pages(tmp_path: Path) -> None:
    many = Watched(tmp_path)
    for number in range(PAGE + 1):
        add(many.store, f"{number}")
    assert f"· {PAGE}" not in many.screen("end")
    assert f"· {PAGE}" in many.screen("end", "enter", "end")


def test_only_open_tasks(shop: Watched) -> None:
    shown = shop.screen("o")
    assert "Open tasks (2/6 done)" in shown
    assert "✓" not in shown
    for task in ("t-3", "t-4", "t-2", "t-total"):
        shop.store.tasks.force_done(TaskId(task))
    assert "none; o shows all" in shop.screen("o")


def test_search_in_the_tree_and_back(shop: Watched) -> None:
    shown = shop.screen("slash", *"bask")
    assert "Tasks like bask" in shown
    assert "✓ basket" in shown
    assert "t-basket basket" in shown
    assert "none; esc shows all" in shop.screen("slash", *"zzz", "enter")
    assert "Tasks (2/6 done)" in shop.screen("slash", *"bask", "enter", "escape")


def test_search_in_a_tab(shop: Watched) -> None:
    found = shop.screen(
        "2", "tab", "slash", *"assert 3", "enter", "n", "n", "n", task=TaskId("t-1")
    )
    assert "assert 3: not found" in found
    shown = shop.screen(
        *("2", "tab", "end", "slash", *"prices.csv", "enter", "N"),
        task=TaskId("t-1"),
        size=(80, 16),
    )
    assert "Read prices.csv." in shown


def test_the_mouse_selects_rows_and_tabs(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        await pilot.click("#tree", offset=(6, 7))
        await pilot.pause()
        assert "t-1 1" in text_of(app)
        await pilot.click("#tabs", offset=(26, 0))
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert "def price(item)" in text_of(app)
        await pilot.click("#diff", offset=(10, 3))
        await pilot.click("#diff", offset=(10, 4), shift=True)
        await typed(pilot, "c")
        assert "on shop.py:2" in text_of(app)

    shop.play(act)


def test_z_gives_the_tab_the_whole_width(shop: Watched) -> None:
    assert "Needs you" not in shop.screen("2", "z", task=TaskId("t-1"))
    assert "Needs you" in shop.screen("2", "z", "z", task=TaskId("t-1"))


def test_text_of_others_moves_nothing(shop: Watched) -> None:
    evil = "\x1b[2J\x1b[31mred \u202eright \x07\nnext [bold]x[/bold]"
    shop.store.tasks.edit(TaskId("t-4"), TaskEdit(title=evil, description=evil))
    shop.says("work.log", Text(text=evil))
    shop.store.tasks.edit(TaskId("t-3"), TaskEdit(title=evil))
    seen = [("t-4", key) for key in "12345si"] + [("t-3", "a")]
    for task, key in seen:
        shown = shop.screen(key, task=TaskId(task), size=(120, 40))
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        assert "[bold]x[/bold]" in shown


def test_the_window_may_have_any_size(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        for size in ((200, 50), (60, 15), (30, 8), (10, 3), (80, 24)):
            await pilot.resize_terminal(*size)
            await typed(pilot, "2", "3", "1")
        assert text_of(app).count("\n") == 24

    shop.play(act, task=TaskId("t-1"))


def test_without_colours_no_cell_has_one(shop: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        for keys in ((), ("2",), ("3",), ("i",)):
            await typed(pilot, *keys)
            strips = app.screen._compositor.render_strips()
            styles = [segment.style for strip in strips for segment in strip if segment.style]
            colors = {one.color for one in styles} | {one.bgcolor for one in styles}
            assert all(one is None or one.is_default for one in colors)
            assert any(one.bold or one.reverse for one in styles)

    shop.play(act, task=TaskId("t-1"))


def test_a_database_that_fails_is_reported_by_the_command(shop: Watched) -> None:
    async def act(app: WatchApp, pilot: Pilot[None]) -> None:
        def fails() -> None:
            raise UnusableData("the database is damaged", hint="ralph doctor")

        app.look = fails  # type: ignore[method-assign]
        for _ in range(8):
            app.call_later(app.beat)
        await pilot.pause()

    with pytest.raises(UnusableData, match="the database is damaged"):
        shop.play(act)
