"""A database in which somebody has changed anything at all: every command answers in one line with
an exit code of its own, and none calls it a bug."""

import io
import json
import random
import shlex
import sqlite3
import sys
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from ralph.__main__ import main
from tests.e2e.conftest import DONE, Project

COMMANDS = (["status"], ["task", "list"], ["task", "tree"], ["costs"], ["doctor"], ["run"])
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 64, 65, 66, 69, 73, 75, 78}
VALUES = (
    "odd",
    "",
    None,
    -1,
    10**18,
    0.5,
    b"\xff\xfe",
    "[" * 5000,
    "{}",
    "[1]",
    "null",
    "9999-99-99",
)
SPOIL = """
import sqlite3, sys
database = sqlite3.connect(".ralph/progress.db", isolation_level=None)
database.execute("PRAGMA ignore_check_constraints = ON")
database.execute(sys.argv[1])
"""
SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 60))]


def tell(command: list[str], where: Path) -> tuple[int, str]:
    """Run it here, which takes a tenth of the time."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with chdir(where), redirect_stdout(out), redirect_stderr(err):
        code = main(command)
    err.seek(0)
    return code, err.read()


def harm(path: Path, dice: random.Random) -> str:
    """Do something to it; say what."""
    if dice.random() < 0.15:
        data = bytearray(path.read_bytes())
        at = dice.randrange(100, len(data) - 64)
        data[at : at + 64] = dice.randbytes(64)
        path.write_bytes(data)
        return f"64 bytes at {at}"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%memory%'"
        table = dice.choice([name for (name,) in database.execute(listed)])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column, value = dice.choice(columns), dice.choice(VALUES)
        what = dice.choice(
            [f"DROP TABLE {table}", f"ALTER TABLE {table} DROP COLUMN {column}"]
            + [f"UPDATE {table} SET {column} = ?"] * 6
        )
        try:
            database.execute(what, (value,) if "?" in what else ())
        except sqlite3.Error as error:
            return f"{what}: {error}"
        return f"{what} {value!r:.40}"


@pytest.fixture
def template(project: Project) -> bytes:
    project.agent(DONE)
    project.add("done")
    project.ralph("run")
    first = project.add("first")
    project.add("second", "--blocked-by", first)
    with closing(sqlite3.connect(project.path / ".ralph/progress.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (project.path / ".ralph/progress.db").read_bytes()


@pytest.mark.parametrize("seed", SEEDS)
def test_every_command_answers(project: Project, template: bytes, seed: int) -> None:
    dice = random.Random(seed)
    path = project.path / ".ralph/progress.db"
    for command in COMMANDS:
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        path.write_bytes(template)
        done = harm(path, dice)
        if command == ["run"]:
            ran = project.try_ralph(*command)
            code, said = ran.returncode, ran.stderr
        else:
            code, said = tell(command, project.path)
        assert code in DOCUMENTED, f"{done}\n{command}: {code}\n{said}"
        assert "a bug in Ralph" not in said, f"{done}\n{command}: {code}\n{said}"


@pytest.mark.parametrize("column", ["ending", "before", "gates"])
@pytest.mark.parametrize("value", ["9999-99-99", "{} {}", "[1"])
def test_text_that_is_no_json_is_damage(project: Project, column: str, value: str) -> None:
    project.agent(DONE)
    task = project.add("done")
    project.ralph("run")
    with closing(sqlite3.connect(project.path / ".ralph/progress.db", isolation_level=None)) as db:
        db.execute(f"UPDATE sessions SET {column} = ?", (value,))
    for command in (["logs"], ["task", "show", task], ["doctor"]):
        code, said = tell(command, project.path)
        assert code == 65 or command == ["doctor"], f"{command}: {code}\n{said}"
        assert "a bug in Ralph" not in said


@pytest.mark.parametrize("query", ["UPDATE sessions SET gates = '[1'", "DROP TABLE task_logs"])
def test_a_run_records_the_code_that_it_ends_with(project: Project, query: str) -> None:
    spoil = f"{sys.executable} -c {shlex.quote(SPOIL)} {shlex.quote(query)}"
    project.agent(f"{spoil}; {DONE}")
    project.add("first")
    ran = project.try_ralph("run", "--json")
    assert ran.returncode == 65, ran.stderr
    ended = [json.loads(line) for line in ran.stdout.splitlines()][-1]
    assert (ended["event"], ended["exit_code"]) == ("run_ended", 65)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER odd BEFORE UPDATE ON tasks BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER odd BEFORE INSERT ON sessions BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
        "CREATE UNIQUE INDEX odd ON events (run_id)",
    ],
)
def test_rules_that_ralph_did_not_make_are_damage(project: Project, sql: str) -> None:
    project.agent(DONE)
    project.add("first")
    with closing(sqlite3.connect(project.path / ".ralph/progress.db", isolation_level=None)) as db:
        db.execute(sql)
    ran = project.try_ralph("run")
    assert ran.returncode == 65, ran.stderr
    assert "odd was not made by Ralph" in ran.stderr
    looked = project.try_ralph("doctor")
    assert looked.returncode == 1
    assert "odd was not made by Ralph" in looked.stdout
