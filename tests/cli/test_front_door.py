"""What happens before and after a command: options, errors, exit codes, streams."""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from ralph import __version__
from ralph.cli import status
from ralph.core.errors import BadConfig
from tests.cli.conftest import Cli, Keyboard, assert_one_line

RALPH = str(Path(sys.executable).parent / "ralph")


def test_the_version_is_one_line(bare: Cli) -> None:
    assert bare("--version").out == f"ralph {__version__}\n"
    assert bare("--debug", "--version").out == f"ralph {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"], ["--debug"]])
def test_a_newcomer_is_shown_the_few_commands_that_matter(argv: list[str], bare: Cli) -> None:
    answer = bare(*argv)
    assert "ralph init" in answer.out
    assert len(answer.out.splitlines()) < 55
    assert not answer.err


@pytest.mark.parametrize(
    ("argv", "near"),
    [
        (["tsak", "list"], "`ralph task`"),
        (["list"], "`ralph task list`"),
        (["task", "lst"], "`ralph task list`"),
        (["statsu"], "`ralph status`"),
        (["task", "deps", "remove"], ""),
        (["xyzzy"], ""),
    ],
)
def test_an_unknown_command_is_one_line_with_near_matches(
    argv: list[str], near: str, bare: Cli
) -> None:
    answer = bare(*argv, code=64)
    assert_one_line(answer)
    assert near in answer.err
    assert not answer.out


@pytest.mark.parametrize(
    "argv",
    [
        ["--bogus"],
        ["-C"],
        ["task", "add"],
        ["task", "add", "a", "b"],
        ["task", "add", "a", "--priority", "high"],
        ["task", "add", "a", "--priority", "99999999999999999999"],
        ["task", "add", "a", "--max-retries", "-1"],
        ["task", "list", "--status", "open"],
        ["task", "list", "--limit", "x"],
        ["task", "list", "--ready", "--all"],
        ["task", "show"],
        ["task", "update", "t-1", "--parent", "a", "--no-parent"],
        ["task", "done"],
        ["task", "deps", "add", "a"],
        ["task", "import"],
        ["status", "now"],
        ["logs", "--attempt", "0"],
        ["completion", "tcsh"],
        ["completion"],
        ["stop", "--later"],
        ["inject"],
        ["skip"],
        ["--color", "sometimes", "status"],
    ],
)
def test_a_usage_error_is_64_with_a_way_to_the_help(argv: list[str], ralph: Cli) -> None:
    answer = ralph(*argv, code=64)
    assert_one_line(answer, hint=True)
    assert "--help" in answer.err.splitlines()[1]
    assert not answer.out


def test_a_mistyped_option_gets_its_near_match(ralph: Cli) -> None:
    assert "did you mean --priority?" in ralph("task", "add", "x", "--prio", "1", code=64).err


def test_options_of_every_command_may_stand_before_or_after(
    ralph: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ralph.add("here")
    project = str(ralph.path)
    ralph.path = tmp_path
    for argv in (
        ["-C", project, "task", "list"],
        [f"-C{project}", "--debug", "task", "list"],
        ["task", "-C", project, "list"],
        ["task", "list", "-C", project],
        ["--color", "never", "task", "list", "-C", project],
    ):
        assert "here" in ralph(*argv).out


def test_a_folder_that_is_not_there_is_said(bare: Cli) -> None:
    answer = bare("-C", "no/such/folder", "status", code=66)
    assert_one_line(answer)
    assert "no/such/folder" in answer.err


def test_colour_only_where_it_is_wanted(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ralph.add("one")
    assert "\x1b[" not in ralph("task", "list").out
    assert "\x1b[" in ralph("task", "list", "--color", "always").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in ralph("--color=always", "task", "list").out
    assert "\x1b[" not in ralph("task", "list", "--color", "auto").out


def test_an_error_is_one_line_and_debug_shows_where(ralph: Cli) -> None:
    answer = ralph("task", "show", "t-000000", code=66)
    assert_one_line(answer)
    answer = ralph("task", "show", "t-000000", "--debug", code=66)
    assert "Traceback" in answer.err
    assert "NoSuchTask" in answer.err


def test_a_bug_is_called_a_bug(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(args: Namespace) -> int:
        raise ZeroDivisionError("by \x1b[31mzero")

    monkeypatch.setattr(status, "run", broken)
    answer = ralph("status", code=70)
    assert_one_line(answer, hint=True)
    assert "bug in Ralph" in answer.err
    assert "ZeroDivisionError" in answer.err
    assert "\x1b" not in answer.err
    assert "--debug" in answer.err
    answer = ralph("--debug", "status", code=70)
    assert "Traceback" in answer.err


def test_an_error_keeps_its_exit_code_and_hint(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(args: Namespace) -> int:
        sys.stdout.write("half an answer\n")
        raise BadConfig("limit is -1\nwhich is odd", hint="set it to 0")

    monkeypatch.setattr(status, "run", refused)
    answer = ralph("status", code=78)
    assert answer.err == "ralph: limit is -1 which is odd\nhint: set it to 0\n"
    assert answer.out == "half an answer\n"


def test_an_interrupt_is_silent(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(status, "run", interrupted)
    assert ralph("status", code=130)[1:] == ("", "")


def test_help_after_two_dashes_is_not_a_question(ralph: Cli) -> None:
    assert ralph.json("task", "show", ralph.add("--", "--help"))["title"] == "--help"


def test_bytes_that_are_no_text_are_refused(ralph: Cli) -> None:
    answer = ralph("task", "add", "caf\udce9", code=64)
    assert_one_line(answer)
    assert "UTF-8" in answer.err


def test_settings_that_are_odd_are_said_once_on_standard_error(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text("[execution]\nmax_retrys = 3\n")
    answer = ralph("task", "add", "x")
    assert answer.err.count("max_retrys") == 1
    assert answer.err.startswith("ralph: warning: ")
    assert answer.out.startswith("t-")


def test_settings_that_are_wrong_are_one_line(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text("[execution]\nmax_retries = 'many'\n")
    assert_one_line(ralph("status", code=78))
    (ralph.path / ".ralph.toml").write_text("[execution\n")
    assert_one_line(ralph("status", code=78))


def test_outside_a_project_there_is_a_way_out(bare: Cli) -> None:
    for argv in (["status"], ["task", "add", "x"], ["task", "list"], ["logs"]):
        answer = bare(*argv, code=66)
        assert_one_line(answer, hint=True)
        assert "ralph init" in answer.err


# The installed program


def test_the_installed_program_imports_next_to_nothing_for_its_version() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", RALPH, "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"ralph {__version__}\n"
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    heavy = {"re", "typing", "argparse", "msgspec", "enum", "ralph.cli.dispatch"}
    assert not heavy & imported


def test_a_reader_that_leaves_is_no_error(ralph: Cli) -> None:
    lines = b"".join(b'{"title": "task number %d"}\n' % n for n in range(5000))
    ralph("task", "import", "-", stdin=lines)
    done = subprocess.run(
        ["bash", "-c", '"$1" task list --limit 0 | head -n 1; echo "${PIPESTATUS[0]}"', "-", RALPH],
        cwd=ralph.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0].startswith("ID")
    assert done.stdout.splitlines()[1] == "141"
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("argv", [["--version"], ["status"], ["task", "list", "--json"]])
def test_a_full_disk_is_said(argv: list[str], ralph: Cli) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [RALPH, *argv],
            cwd=ralph.path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 73
    assert done.stderr == "ralph: cannot write: no space left on device\n"


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["status"], ["task", "list"]])
def test_a_closed_standard_output_is_no_error(argv: list[str], ralph: Cli) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "-", RALPH, *argv],
        cwd=ralph.path,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_terminal_without_unicode_still_gets_an_answer(ralph: Cli) -> None:
    ralph.add("caf\u00e9 \u2713")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [RALPH, "task", "list"], cwd=ralph.path, env=env, capture_output=True, check=True
    )
    assert b"caf? ?" in done.stdout
    done = subprocess.run(
        [RALPH, "task", "list", "--json"], cwd=ralph.path, env=env, capture_output=True, check=True
    )
    assert "caf\u00e9 \u2713".encode() in done.stdout


@pytest.mark.parametrize("argv", [["build"], ["build", "3", "--dry-run"], ["auto"], ["plan"]])
def test_what_is_odd_about_the_settings_is_said_once(ralph: Cli, argv: list[str]) -> None:
    path = Path(ralph.path) / ".agents/ralph/config.sh"
    path.parent.mkdir(parents=True)
    path.write_text("PLAN_PAHT=x\n")
    assert ralph(*argv, code=66).err.count("did you mean PLAN_PATH?") == 1


@pytest.mark.parametrize(("editor", "code"), [("/no/such/editor", 69), ("'unclosed", 78)])
def test_an_editor_that_cannot_be_started_is_named(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch, editor: str, code: int
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    answer = ralph("prd", "--edit", code=code, stdin=Keyboard(b""))
    assert_one_line(answer, hint=True)
    assert editor in answer.err
