"""Lessons, written down and taken back."""

import re
from pathlib import Path

from tests.cli.conftest import Cli, Keyboard, assert_one_line


def file(ralph: Cli) -> Path:
    return ralph.path / ".ralph" / "guardrails.md"


def ids(ralph: Cli) -> list[str]:
    return [one["id"] for one in ralph.json("memory", "guardrails")]


def test_an_entry_is_written_down_and_only_its_id_is_printed(ralph: Cli) -> None:
    said = ralph("memory", "add", "use port 0", "--kind", "fix", "--tag", "net,tests").out
    assert re.fullmatch(r"fix-\d{10}-[0-9a-f]{4}\n", said)
    (entry,) = [one for one in ralph.json("memory", "guardrails") if one["id"] == said.strip()]
    assert (entry["kind"], entry["text"], entry["tags"]) == ("fix", "use port 0", ["net", "tests"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["created"])
    assert f"## Fixes\n\n### {said.strip()}\n> use port 0\n" in file(ralph).read_text()


def test_without_a_kind_it_is_how_things_are_done(ralph: Cli) -> None:
    assert ralph("memory", "add", "no mocks").out.startswith("pattern-")


def test_the_same_lesson_is_there_once(ralph: Cli) -> None:
    first = ralph("memory", "add", "no mocks").out
    assert ralph("memory", "add", "No  mocks", "--kind", "fix").out == first
    assert len(ids(ralph)) == 3


def test_a_text_may_come_from_standard_input(ralph: Cli) -> None:
    entry = ralph.json("memory", "add", "--kind", "decision", "-", stdin=b"we use\nSQLite\n")
    assert (entry["kind"], entry["text"]) == ("decision", "we use\nSQLite")


def test_an_empty_text_and_an_unknown_kind_are_refused(ralph: Cli) -> None:
    assert_one_line(ralph("memory", "add", " ", code=64))
    assert_one_line(ralph("memory", "add", "x", "--kind", "fixes", code=64))
    assert not file(ralph).exists()


def test_what_is_there_stays_byte_for_byte(ralph: Cli) -> None:
    before = b"# Mine\r\n\r\n## Patterns\r\n- caf\xe9\r\n\r\n## Other\r\n"
    file(ralph).write_bytes(before)
    name = ralph("memory", "add", "no mocks").out.strip()
    after = file(ralph).read_bytes()
    assert after != before
    at = after.index(b"\r\n### ")
    assert after[:at] + after[after.index(b"\r\n## Other") :] == before
    ralph("memory", "remove", name, "--yes")
    assert file(ralph).read_bytes() == before


def test_without_a_file_there_is_nothing_to_list(ralph: Cli) -> None:
    assert "no guardrails" in ralph("memory", "guardrails").out
    assert ralph.json("memory", "guardrails") == []


def test_entries_are_listed_safely(ralph: Cli) -> None:
    file(ralph).write_text("## Fixes\n\n### fix-1-0001\n> \x1b[31mred\n> and more\n")
    shown = ralph("memory", "guardrails").out
    assert "fix-1-0001" in shown
    assert "␛[31mred and more" in shown


def test_a_file_that_is_none_is_said(ralph: Cli) -> None:
    file(ralph).mkdir()
    assert_one_line(ralph("memory", "guardrails", code=65), hint=True)
    assert_one_line(ralph("memory", "add", "x", code=65), hint=True)


def test_nothing_is_written_into_what_is_no_text(ralph: Cli) -> None:
    file = ralph.path / ".ralph" / "guardrails.md"
    file.write_bytes("# Guardrails".encode("utf-16"))
    assert_one_line(ralph("memory", "add", "mind the gap", code=65), hint=True)
    assert file.read_bytes() == "# Guardrails".encode("utf-16")


def test_several_entries_are_removed_or_none(ralph: Cli) -> None:
    names = [ralph("memory", "add", f"lesson {n}").out.strip() for n in range(3)]
    before = file(ralph).read_bytes()
    wrong = names[0][:-1] + "!"
    answer = ralph("memory", "remove", names[1], wrong, "--yes", code=66)
    assert_one_line(answer, hint=True)
    assert "did you mean" in answer.err
    assert file(ralph).read_bytes() == before
    ralph("memory", "remove", names[0], names[2], names[0], "--yes")
    assert [one for one in ids(ralph) if one.startswith("pattern-")] == [names[1]]


def test_twins_are_removed_one_by_one_or_both(ralph: Cli) -> None:
    twins = "## Fixes\n\n### fix-1-0001\n> a\n\n### fix-1-0001\n> b\n"
    file(ralph).write_text(twins)
    ralph("memory", "remove", "fix-1-0001", "fix-1-0001.2", "--yes")
    assert ids(ralph) == []


def test_removing_asks_first(ralph: Cli) -> None:
    name = ralph("memory", "add", "no mocks").out.strip()
    assert_one_line(ralph("memory", "remove", name, code=64, stdin=b""), hint=True)
    ralph("memory", "remove", name, code=1, stdin=Keyboard(b"n\n"))
    assert name in ids(ralph)
    ralph("memory", "remove", name, stdin=Keyboard(b"y\n"))
    assert name not in ids(ralph)


def test_they_are_where_config_sh_says(ralph: Cli) -> None:
    config = ralph.path / ".agents" / "ralph" / "config.sh"
    config.parent.mkdir(parents=True)
    config.write_text("GUARDRAILS_PATH=docs/lessons.md\n")
    (ralph.path / "docs").mkdir()
    name = ralph("memory", "add", "no mocks").out.strip()
    assert "no mocks" in (ralph.path / "docs" / "lessons.md").read_text()
    assert not file(ralph).exists()
    assert name in ids(ralph)
    assert "no mocks" in ralph("task", "brief", ralph("task", "add", "x").out.strip()).out
    ralph("memory", "remove", name, "--yes")
    assert name not in ids(ralph)
    config.write_text("GUARDRAILS_PATH=../lessons.md\n")
    assert_one_line(ralph("memory", "guardrails", code=64))
