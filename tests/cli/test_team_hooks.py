"""Hooks of a team: as its program calls them, and in its settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Cli, Keyboard, assert_one_line


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_MODE", "off")
    monkeypatch.delenv("RALPH_SOCKET", raising=False)


def gates(ralph: Cli, **commands: str) -> None:
    lines = "".join(f"GATE_{name}='{command}'\n" for name, command in commands.items())
    (ralph.path / ".ralph" / "config.sh").write_text(lines)


def call(ralph: Cli, name: str, *, code: int, **payload: Any) -> Answer:
    body = {
        "session_id": "s",
        "cwd": str(ralph.path),
        "teammate_name": "teammate-2",
        **payload,
    }
    return ralph("hook", name, code=code, stdin=json.dumps(body).encode())


def test_a_task_is_completed_when_the_gates_pass(ralph: Cli) -> None:
    task = ralph.add("Parser")
    gates(ralph, LINT='echo "$RALPH_SLOT" > "$TMPDIR/x" && cp "$TMPDIR/x" slot')
    said = call(ralph, "task-completed", code=0, task_subject=f"{task} Parser")
    assert (said.out, said.err) == ("", "")
    assert (ralph.path / "slot").read_text() == "teammate-2\n"
    assert ralph.status(task) == "done"


def test_the_first_gate_that_fails_is_told_and_ends_the_round(ralph: Cli) -> None:
    task = ralph.add("Parser")
    gates(ralph, LINT="touch linted; exit 3", TEST="echo one is red; test -e nothing")
    said = call(ralph, "task-completed", code=2, task_subject="Parser")
    assert said.out == ""
    assert said.err == "gate test fails: the task is not done yet.\none is red\n"
    assert not (ralph.path / "linted").exists()
    assert ralph.status(task) == "pending"


def test_what_cannot_be_judged_is_not_completed_but_anybody_may_rest(
    ralph: Cli, tmp_path: Path
) -> None:
    ralph.add("Parser")
    gates(ralph, TEST="pytest || true")
    for count in (1, 2):
        assert "cannot fail" in call(ralph, "task-completed", code=2).err
        assert "cannot fail" in call(ralph, "teammate-idle", code=0).err
        assert json.loads((ralph.path / ".ralph/failures.json").read_text()) == {
            "teammate-2": count
        }
    nowhere = str(tmp_path / "nowhere")
    assert_one_line(call(ralph, "task-completed", code=2, cwd=nowhere))
    assert_one_line(call(ralph, "teammate-idle", code=0, cwd=nowhere))
    for wrong in (b"{", b"", b"[]", b'"x"', b"\xff", b"[" * 100_000):
        assert_one_line(ralph("hook", "task-completed", code=2, stdin=wrong))
        assert_one_line(ralph("hook", "teammate-idle", code=0, stdin=wrong))


def test_a_bug_in_the_judge_completes_nothing(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("oh")

    monkeypatch.setattr("ralph.workflows.claude_team_hooks.task_completed", fails)
    assert "bug in Ralph: ValueError: oh" in call(ralph, "task-completed", code=2).err


def test_a_teammate_goes_on_while_something_is_ready(ralph: Cli) -> None:
    assert call(ralph, "teammate-idle", code=0).err == ""
    task = ralph.add("Parser")
    assert task in call(ralph, "teammate-idle", code=2).err


def test_the_project_is_the_one_that_claude_names(
    ralph: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ralph.add("Parser")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(ralph.path))
    call(ralph, "teammate-idle", code=2, cwd=str(tmp_path / "nowhere"))


def test_in_a_session_of_its_own_the_loop_judges(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates(ralph, TEST="exit 1")
    monkeypatch.setenv("RALPH_SOCKET", "/nowhere")
    call(ralph, "task-completed", code=0)
    call(ralph, "teammate-idle", code=0)


class TestSettings:
    def file(self, ralph: Cli) -> Path:
        return ralph.path / ".claude" / "settings.json"

    def test_hooks_are_shown_put_in_and_taken_out_again(self, ralph: Cli) -> None:
        self.file(ralph).parent.mkdir()
        before = b'{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n'
        self.file(ralph).write_bytes(before)
        said = ralph("team", "install", "--yes").out
        assert "+" in said
        assert "hook task-completed" in said
        hooks = json.loads(self.file(ralph).read_bytes())["hooks"]
        assert set(hooks) == {"Stop", "TaskCompleted", "TeammateIdle"}
        assert "nothing to do" in ralph("team", "install", "--yes").out
        ralph("team", "uninstall", "--yes")
        assert self.file(ralph).read_bytes() == before
        assert "nothing to do" in ralph("team", "uninstall", "--yes").out

    def test_nothing_is_changed_without_a_yes(self, ralph: Cli) -> None:
        assert_one_line(ralph("team", "install", code=64))
        ralph("team", "install", code=1, stdin=Keyboard(b"n\n"))
        assert not self.file(ralph).exists()
        ralph("team", "install", stdin=Keyboard(b"y\n"))
        assert self.file(ralph).exists()

    def test_settings_that_cannot_be_read_are_left_alone(self, ralph: Cli) -> None:
        self.file(ralph).parent.mkdir()
        self.file(ralph).write_text("// mine\n{}")
        assert_one_line(ralph("team", "install", "--yes", code=65))
        assert self.file(ralph).read_text() == "// mine\n{}"
