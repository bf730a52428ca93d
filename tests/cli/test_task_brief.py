"""What the next session of a task would be told."""

from tests.cli.conftest import Cli, assert_one_line
from tests.cli.running import a_run


def test_a_brief_is_rules_and_the_task(ralph: Cli) -> None:
    task = ralph.add("Parse the header", "-d", "all of it")
    shown = ralph("task", "brief", task).out
    assert shown.startswith("You work in a Ralph loop")
    assert f"## Your task: {task}\n\n**Parse the header**\n\nall of it\n" in shown


def test_documents_gates_and_guidance_are_in_it(ralph: Cli) -> None:
    task = ralph.add("the form", "--feature", "login")
    folder = ralph.path / ".ralph" / "features" / "login"
    folder.mkdir(parents=True)
    (folder / "spec.md").write_text("by mail")
    (ralph.path / ".ralph.toml").write_text('[gates]\ntest = "make test"\n')
    ralph("memory", "add", "no mocks")
    ralph("session", "inject", "be quick", "--task", task)
    shown = ralph("task", "brief", task).out
    for words in ("by mail", "`make test`", "Pattern: no mocks", "- be quick"):
        assert words in shown
    (folder / "spec.md").write_text("by phone")
    assert "by phone" in ralph("task", "brief", task).out


def test_to_look_at_it_tells_nobody_anything(ralph: Cli) -> None:
    task = ralph.add("work")
    ralph("session", "inject", "be quick")
    with ralph.store() as store:
        before = store.events.last_seq()
    ralph("task", "brief", task)
    with ralph.store() as store:
        assert store.events.last_seq() == before
        assert store.messages.guidance(store.tasks.find(task).id, 1) == ["be quick"]


def test_programs_get_the_parts_and_what_was_cut(ralph: Cli) -> None:
    task = ralph.add("work", "-d", "a line of it\n" * 5000)
    (ralph.path / ".ralph.toml").write_text("[context]\nbrief_tokens = 2000\n")
    answer = ralph.json("task", "brief", task)
    assert answer["task_id"] == task
    assert 1000 < answer["tokens"] <= 2000
    (given,) = answer["given"]
    assert given["name"] == "task"
    assert given["tokens"] < given["of"]
    assert f"`ralph task show {task}`" in answer["text"]


def test_what_cannot_be_read_is_said(ralph: Cli) -> None:
    task = ralph.add("the form", "--feature", "login")
    (ralph.path / ".ralph" / "features" / "login" / "spec.md").mkdir(parents=True)
    answer = ralph("task", "brief", task)
    assert "spec.md is not a file" in answer.err
    assert ralph.json("task", "brief", task)["troubles"]


def test_settings_decide_how_much_is_told(ralph: Cli) -> None:
    task = ralph.add("work")
    ralph("memory", "add", "no mocks")
    (ralph.path / ".ralph.toml").write_text(
        "[execution]\nlearn = false\n[memory]\nenabled = false\n[git]\ncommit = 'ralph'\n"
    )
    shown = ralph("task", "brief", task).out
    assert "no mocks" not in shown
    assert "SKILL.md" not in shown
    assert "Do not commit" in shown


def test_a_finished_parent_says_what_its_parts_were(ralph: Cli) -> None:
    parent = ralph.add("tea")
    for title in ("sell it", "brew it"):
        ralph("task", "done", ralph.add(title, "--parent", parent))
    by_hand = ralph.add("by hand")
    ralph("task", "done", by_hand)
    last = ralph.add("drink it", "--blocked-by", parent, "--blocked-by", by_hand)
    shown = ralph("task", "brief", last).out
    assert f"- {parent} tea: sell it; brew it\n- {by_hand} by hand\n" in shown
    ralph("task", "log", by_hand, "-m", "port 8080")
    assert f"- {by_hand} by hand: port 8080\n" in ralph("task", "brief", last).out


def test_an_unknown_task_is_an_error(ralph: Cli) -> None:
    assert_one_line(ralph("task", "brief", "t-nope", code=66))


def test_logs_tell_what_was_in_the_brief(ralph: Cli) -> None:
    from msgspec.structs import replace

    from ralph.core.brief_sections import SectionUsage
    from ralph.core.events import SessionEnded

    task = ralph.add("work")
    with a_run(ralph) as running:
        claim = running.claim()
        session = running.start(claim)
        given = (
            SectionUsage(name="task", tokens=12, of=12),
            SectionUsage(name="spec", tokens=900, of=4000),
        )
        event = SessionEnded(session_id=session.id, task_id=session.task_id, ended="finished")
        running.store.sessions.end(replace(session, given=given), claim, event)
    assert "  brief    task 12, spec 900 of 4,000 tokens\n" in ralph("logs", task).out
    (attempt,) = ralph.json("task", "show", task)["attempts"]
    assert attempt["given"][1] == {"name": "spec", "tokens": 900, "of": 4000}
