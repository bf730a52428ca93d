"""What happened in the sessions of a task or a run."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ralph.adapters.executor.own_process import this_process
from ralph.cli.log_follow import LogFollower
from ralph.cli.session_output import last_lines, safe_log
from ralph.core import agent_events as agent
from ralph.ui.session_stream import stream_of
from tests.cli.conftest import Cli, assert_one_line
from tests.cli.running import Running, a_run, a_view, as_line


def test_before_the_first_run(ralph: Cli) -> None:
    assert_one_line(ralph("logs", code=66), hint=True)
    task = ralph.add("x")
    assert "no session yet" in ralph("logs", task).out


def test_the_sessions_of_a_task(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        claim = running.claim()
        running.end(running.start(claim, b"old\n"), claim)
        claim = running.claim()
        running.start(claim, b"new \x1b[31mred\x1b[0m\nlast\n")
    shown = ralph("logs", task).out
    assert "attempt 1" in shown
    assert "finished after 1m 35s" in shown
    assert "said it was done" in shown
    assert "gates    test passed, lint failed (exit 3)" in shown
    assert "commits  0123456789ab\n" in shown
    assert str(ralph.path / ".ralph/runs") in shown
    assert "attempt 2" in shown
    assert "at work" in shown
    assert shown.endswith("\nnew \u241b[31mred\u241b[0m\nlast\n")
    assert "gate lint fails" in shown
    sessions = ralph.json("logs", task)
    assert [session["attempt"] for session in sessions] == [1, 2]
    assert ralph("logs", task, "--attempt", "1").out.endswith("\nold\n")
    assert ralph("logs", task, "-n", "1").out.endswith("(gone)\n") is False
    assert "new" not in ralph("logs", task, "-n", "1").out.splitlines()[-1]
    assert_one_line(ralph("logs", task, "--attempt", "9", code=66), hint=True)


def test_raw_means_raw(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        running.start(running.claim(), b"\x1b[31mred\n")
    assert ralph("logs", task, "--raw").out.endswith("\x1b[31mred\n")


def test_the_newest_run_or_a_named_one(ralph: Cli) -> None:
    one = ralph.add("one")
    two = ralph.add("two")
    with a_run(ralph, name="20270115-080000-1") as first:
        first.start(first.claim(), b"first\n")
        first.finish()
        second = Running(first.store, ralph.path, this_process(), "20270115-090000-2")
        second.start(second.claim(), b"second\n")
    shown = ralph("logs").out
    assert two in shown
    assert one not in shown
    assert "not ended" in shown
    shown = ralph("logs", first.run).out
    assert one in shown
    assert "failure: enough" in shown


def test_a_log_that_is_gone_is_said(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        session = running.start(running.claim(), b"x")
    os.unlink(ralph.path / session.log)
    assert "(gone)" in ralph("logs", task).out


def test_the_end_of_a_large_log_is_found_without_reading_it_all(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(3_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\none\ntwo\nthree")
    assert last_lines(str(log), 2) == b"two\nthree"
    assert last_lines(str(log), 0) == b""
    assert len(last_lines(str(log), 10)) < 5_000_000


def test_long_lines_are_cut_and_bytes_that_are_no_text_shown_somehow() -> None:
    assert len(safe_log(b"x" * 100_000)) < 2100
    assert safe_log(b"caf\xe9\r\nok\x00\n") == "caf\ufffd\nok\u2400\n"


SPOKEN = (
    agent.AgentStarted(model="opus-5"),
    agent.Text(text="I lo", partial=True),
    agent.Text(text="I look\x1b[2J."),
    agent.ToolUse(name="Bash", summary="make", call="1"),
    agent.ToolResult(call="1", text="exit 1\nno rule", error=True),
    agent.ToolDenied(name="Write", summary="x.py"),
)


def test_a_session_that_speaks_in_events_is_told_in_words(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        session = running.start(running.claim(), b'{"type": "system"}\n', *SPOKEN)
    shown = ralph("logs", task).out
    assert shown.endswith(
        """
- started with opus-5
  I look\u241b[2J.
> Bash  make
  ✗ exit 1
    no rule
! not permitted: Write  x.py
"""
    )
    assert session.log in shown
    assert '"system"' not in shown
    assert ralph("logs", task, "-n", "1").out.endswith(
        "\n\n… 5 lines before these; -n 6 has all\n! not permitted: Write  x.py\n"
    )
    assert ralph("logs", task, "--raw").out.endswith('{"type": "system"}\n')
    assert "\x1b[31m! not permitted" in ralph("--color", "always", "logs", task).out


def test_an_agent_that_only_prints_is_shown_with_its_standard_error(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        running.start(running.claim(), b"hello\nwarning: from stderr\n", agent.Text(text="hello\n"))
    assert ralph("logs", task).out.endswith("\nhello\nwarning: from stderr\n")


def test_a_stream_of_another_version_is_told_as_far_as_it_is_understood(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        session = running.start(running.claim(), b"raw\n", *SPOKEN)
        with (ralph.path / stream_of(session.log)).open("ab") as file:
            file.write(b'{"event": "danced"}\nnot json\n{"event": "text", "text": "end"}\nhal')
    assert ralph("logs", task).out.endswith("x.py\n  end\n")


# Following


def test_following_a_session_that_speaks_in_events(ralph: Cli) -> None:
    ralph.add("work")
    with a_run(ralph) as running:
        claim = running.claim()

        def says(*events: agent.AgentEvent) -> None:
            session = running.store.sessions.select(task=claim.task.id)[-1]
            with (ralph.path / stream_of(session.log)).open("ab") as file:
                file.write(b"".join(map(as_line, events)))

        steps = iter(
            [
                lambda: running.start(claim, b"{}\n"),
                lambda: says(*SPOKEN[:2]),
                lambda: says(*SPOKEN[2:]),
                lambda: says(agent.Text(text="and th", partial=True)),
                lambda: running.end(running.store.sessions.select(task=claim.task.id)[-1], claim),
                running.finish,
            ]
        )
        follower = LogFollower(running.view, run=running.run, wait=_each(steps))
        ralph.capsys.readouterr()
        assert follower.follow(running.store.events.last_seq()) == 0
        shown = ralph.capsys.readouterr().out
    assert (
        """
- started with opus-5
  I look\u241b[2J.
> Bash  make
  ✗ exit 1
    no rule
! not permitted: Write  x.py
  and th …
"""
        in shown
    )
    assert shown.index("and th") < shown.index("session finished")
    assert "{}" not in shown


def test_following_a_run_to_its_end(ralph: Cli) -> None:
    ralph.add("work")
    with a_run(ralph) as running:
        claim = running.claim()
        steps = iter(
            [
                lambda: running.start(claim, b"hello \x1b[1m\nhalf"),
                lambda: running.end(running.store.sessions.select(task=claim.task.id)[-1], claim),
                running.finish,
            ]
        )
        follower = LogFollower(
            running.view,
            run=running.run,
            wait=_each(steps),
        )
        ralph.capsys.readouterr()
        assert follower.follow(running.store.events.last_seq()) == 0
        shown = ralph.capsys.readouterr().out
    assert "hello \u241b[1m\nhalf\n" in shown
    assert shown.index("half") < shown.index("session finished")
    assert next(steps, None) is None


def test_following_a_task_until_it_is_settled(ralph: Cli) -> None:
    task, other = ralph.add("mine"), ralph.add("not mine")
    with ralph.store() as store:
        steps = iter([lambda: store.tasks.force_done(other), lambda: store.tasks.force_done(task)])  # type: ignore[arg-type]
        follower = LogFollower(a_view(store, str(ralph.path)), task=task, wait=_each(steps))  # type: ignore[arg-type]
        ralph.capsys.readouterr()
        assert follower.follow(store.events.last_seq()) == 0
        shown = ralph.capsys.readouterr().out
    assert other not in shown
    assert f"{task} done" in shown


def test_following_ends_when_the_run_was_killed(ralph: Cli) -> None:
    with a_run(ralph, alive=False) as running:
        assert ralph("logs", running.run, "-f").code == 0


def test_json_does_not_follow(ralph: Cli) -> None:
    assert_one_line(ralph("logs", "-f", "--json", code=64), hint=True)


def test_following_a_settled_task_ends_at_once(ralph: Cli) -> None:
    task = ralph.add("x")
    ralph("task", "done", task)
    assert ralph("logs", task, "-f").code == 0


def _each(steps: Iterator[Callable[[], object]]) -> Callable[[], None]:
    """What happens while the follower waits: one step each time."""

    def wait() -> None:
        next(steps)()

    return wait
