"""What happens before and after a command: options, errors, exit codes, streams."""

import errno
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from ralph import __version__
from ralph.cli import status
from ralph.cli.commands import COMMANDS, OLD_NAMES, load
from ralph.cli.dispatch import find
from ralph.cli.parser import build
from ralph.core.errors import BadConfig, CannotWrite
from tests.cli.conftest import Cli, assert_one_line

RALPH = str(Path(sys.executable).parent / "ralph")


def test_the_version_is_one_line(bare: Cli) -> None:
    assert bare("--version").out == f"ralph {__version__}\n"
    assert bare("--debug", "--version").out == f"ralph {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"], ["--debug"]])
def test_a_newcomer_is_shown_the_few_commands_that_matter(argv: list[str], bare: Cli) -> None:
    answer = bare(*argv)
    assert 'ralph "what you want"' in answer.out
    assert len(answer.out.splitlines()) < 55
    assert not answer.err


@pytest.mark.parametrize(
    ("argv", "near"),
    [
        (["tsak", "list"], "`ralph task`"),
        (["list"], "`ralph task list`"),
        (["task", "lst"], "`ralph task list`"),
        (["statsu"], "`ralph status`"),
        (["rnu"], "`ralph run`"),
        (["rum"], "`ralph run`"),
        (["help", "rum"], "`ralph run`"),
        (["remove"], "`ralph memory remove`"),
        (["biuld"], "`ralph story build`"),
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
        ["session", "inject"],
        ["session", "skip"],
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


@pytest.mark.parametrize("command", COMMANDS)
def test_a_number_that_is_none_is_called_so_in_plain_words(command: str) -> None:
    numbers = [one for one in build(command, load(command))._actions if one.type is int]
    assert not numbers, "argparse says `invalid int value`; see `at_least`"


def test_a_single_unknown_word_is_no_wish_unless_it_is_said_to_be_one(bare: Cli) -> None:
    answer = bare("modernise", code=64)
    assert answer.err == (
        "ralph: there is no command 'modernise'\n"
        "hint: ralph help --all; if it is what you want: ralph go modernise\n"
    )


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("dark mode", "'dark mode'"),
        ("add a dark mode", "'add a dark mode'"),
        ("dark mode --yes --limit 2", "'dark mode' --yes --limit 2"),
    ],
)
def test_a_wish_without_its_quotes_gets_them(typed: str, wanted: str, bare: Cli) -> None:
    hint = bare(*typed.split(), code=64).err.splitlines()[-1]
    assert hint.endswith(f"if it is what you want: ralph go {wanted}")


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_works_and_says_what_it_is_called_now(old: str, bare: Cli) -> None:
    answer = bare(*old.split(), "--help")
    name = find(old.split())[1]
    assert answer.out.startswith(f"usage: ralph {name} ")
    assert answer.err == f"ralph: warning: `ralph {old}` is `ralph {OLD_NAMES[old]}` now\n"


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

    monkeypatch.setattr(status.status, "run", broken)
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

    monkeypatch.setattr(status.status, "run", refused)
    answer = ralph("status", code=78)
    assert answer.err == "ralph: limit is -1 which is odd\nhint: set it to 0\n"
    assert answer.out == "half an answer\n"


def test_an_interrupt_is_silent(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(status.status, "run", interrupted)
    assert ralph("status", code=130)[1:] == ("", "")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/some/file"), 73, "/some/file: perm"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", b"/some/file"), 73, "/some/file"),
        (OSError(errno.EMFILE, "Too many open files"), 75, "the machine failed: too many open"),
        (OSError(errno.EIO, "Input/output error", "/some/file"), 75, "failed at /some/file: input"),
        (MemoryError(), 75, "out of memory"),
        (ImportError("cannot import name 'sha256'"), 75, "Python cannot load what Ralph needs"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/it"), 70, "a bug in Ralph"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_machine_refuses_is_no_bug(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, said: str
) -> None:
    def refused(args: Namespace) -> int:
        raise error

    monkeypatch.setattr(status.status, "run", refused)
    answer = ralph("status", code=code)
    assert_one_line(answer, hint=True)
    assert said in answer.err


NOTHING_LOADS = """
import sys
from importlib.machinery import PathFinder
from ralph.__main__ import start
left = int(sys.argv[1])
class Refuse:
    def find_spec(self, *_):
        global left
        left -= 1
        if left < 0:
            raise OSError(12, "Cannot allocate memory")
sys.meta_path.insert(sys.meta_path.index(PathFinder), Refuse())
sys.argv = ["ralph", "task", "list"]
start()
"""


@pytest.mark.parametrize("loaded", [0, 10, 30, 60, 90])
def test_a_machine_that_loads_nothing_more_is_no_bug(ralph: Cli, loaded: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_LOADS, str(loaded)],
        cwd=ralph.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 75, done.stderr
    assert done.stderr.startswith("ralph: ")
    assert "annot allocate memory" in done.stderr
    assert "Traceback" not in done.stderr


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
    # The installed program ignores Python's variables, and there may be no such locale here.
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    argv = [sys.executable, "-m", "ralph", "task", "list"]
    done = subprocess.run(argv, cwd=ralph.path, env=env, capture_output=True, check=True)
    assert b"caf? ?" in done.stdout
    argv.append("--json")
    done = subprocess.run(argv, cwd=ralph.path, env=env, capture_output=True, check=True)
    assert "caf\u00e9 \u2713".encode() in done.stdout


@pytest.mark.parametrize(
    "argv", [["story", "build"], ["story", "build", "3", "--dry-run"], ["go"], ["story", "plan"]]
)
def test_what_is_odd_about_the_settings_is_said_once(ralph: Cli, argv: list[str]) -> None:
    path = Path(ralph.path) / ".agents/ralph/config.sh"
    path.parent.mkdir(parents=True)
    path.write_text("PLAN_PAHT=x\n")
    assert ralph(*argv, code=66).err.count("did you mean PLAN_PATH?") == 1


def test_an_error_about_a_file_says_where_to_look() -> None:
    assert CannotWrite("cannot write .ralph: File exists").hint
    assert CannotWrite("cannot write", hint="").hint == ""
