"""`ralph policy check`: what a session may run, and why not."""

import json

import pytest

from tests.cli.conftest import Cli, assert_one_line


def test_what_may_run_exits_with_0(ralph: Cli) -> None:
    assert ralph("policy", "check", "git status").out == "allowed\n"


def test_what_may_not_run_exits_with_1_and_says_why_and_what_instead(ralph: Cli) -> None:
    said = ralph("policy", "check", "ls && git push", code=1).out.splitlines()
    assert said[0] == "denied"
    assert said[1].startswith("why: `git push`")
    assert said[2].startswith("instead: ")


def test_a_rewritten_command_is_shown(ralph: Cli) -> None:
    (ralph.path / "uv.lock").touch()
    assert ralph("policy", "check", "pytest -q").out == "rewritten\nas: uv run pytest -q\n"


def test_the_settings_count(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ralph("policy", "check", "git commit -m x")
    monkeypatch.setenv("RALPH_GIT_COMMIT", "ralph")
    ralph("policy", "check", "git commit -m x", code=1)
    monkeypatch.setenv("RALPH_GIT_COMMIT", "auto")
    monkeypatch.setenv("RALPH_POLICY_GIT", "free")
    ralph("policy", "check", "git push")
    monkeypatch.setenv("RALPH_POLICY_PACKAGING", "uv")
    ralph("policy", "check", "pip install x", code=1)
    monkeypatch.setenv("RALPH_POLICY_STRICT", "true")
    ralph("policy", "check", "eval $x", code=1)


def test_what_is_in_doubt_is_said_and_denied_when_strict(ralph: Cli) -> None:
    assert "in doubt: " in ralph("policy", "check", "eval $x").out
    ralph("policy", "check", "--strict", "eval $x", code=1)


def test_a_phase_without_a_shell_has_one_that_only_looks(ralph: Cli) -> None:
    ralph("policy", "check", "--phase", "planning", "cat x")
    ralph("policy", "check", "--phase", "planning", "touch x", code=1)
    ralph("policy", "check", "--phase", "planning", "--agent", "claude", "cat x", code=1)
    ralph("policy", "check", "--phase", "planning", "--agent", "codex", "cat x")
    ralph("policy", "check", "--phase", "validation", "make test")


def test_json_tells_all_of_it(ralph: Cli) -> None:
    assert ralph.json("policy", "check", "git status") == {
        "command": "git status",
        "decision": "allow",
        "reason": "",
        "suggestion": "",
        "rewritten": None,
        "doubts": [],
    }
    denied = json.loads(ralph("policy", "check", "--json", "git push", code=1).out)
    assert denied["decision"] == "deny"
    assert denied["reason"]


def test_a_dash_reads_one_command_from_each_line(ralph: Cli) -> None:
    typed = b"ls\n\ngit push\r\ng\xffit\n"
    answer = ralph("policy", "check", "-", code=1, stdin=typed)
    assert [line.partition(":")[0] for line in answer.out.splitlines() if line[0] != " "] == [
        "allowed",
        "denied",
        "allowed",
    ]
    lines = ralph("policy", "check", "--json", "-", code=1, stdin=typed).out.splitlines()
    assert [json.loads(line)["decision"] for line in lines] == ["allow", "deny", "allow"]
    ralph("policy", "check", "-", stdin=b"ls\n")
    ralph("policy", "check", "-", stdin=b"")


def test_it_works_outside_a_project(bare: Cli) -> None:
    bare("policy", "check", "git push", code=1)
    bare("policy", "check", "rm -rf build")
    bare("policy", "check", "rm -rf ..", code=1)


def test_paths_are_seen_from_here(ralph: Cli) -> None:
    (ralph.path / "sub").mkdir()
    ralph("-C", "sub", "policy", "check", "rm -rf ../build")
    ralph("-C", "sub", "policy", "check", "rm -rf ../..", code=1)


def test_bad_usage_is_one_line(ralph: Cli) -> None:
    assert_one_line(ralph("policy", "check", code=64))
    assert_one_line(ralph("policy", "check", "--phase", "cooking", "ls", code=64))
    assert_one_line(ralph("policy", "check", "--agent", "nobody", "ls", code=69))
