"""By which files a gate judges."""

import pytest

from ralph.documents.judge_files import Seen, is_same_judge, judge_files

FILES = {
    "check.sh": '#!/bin/sh\n. "$(dirname "$0")/lib/common.sh"\n'
    "python tools/verify.py\n./app | grep x\n",
    "lib/common.sh": "true",
    "lib/x.sh": "sh check.sh",
    "tools/verify.py": "import helper\nrun('./lib/x.sh')",
    "tools/helper.py": "",
    "app": "#!/bin/sh\n",
    "app.py": "import helper",
    "Makefile": (
        "PY ?= python3\n-include mk/a.mk\n.PHONY: test\nall: test\n"
        "test: lint ; sh web/t.sh\nlint:\n\t@$(PY) tools/verify.py\nrun:\n\tpython app.py\n"
        "again:\n\t$(MAKE) again\n"
    ),
    "mk/a.mk": "x:\n\ttrue\n",
    "package.json": '{"scripts": {"test": "npm run unit", "pretest": "sh lib/common.sh",'
    ' "unit": "node t.js && npm run unit", "start": "node app.js"}}',
    "t.js": "require('./app.js')",
    "app.js": "",
    "web/t.sh": "",
    "web/package.json": '{"scripts": {"test": "sh t.sh"}}',
    "conftest.py": "",
    "pyproject.toml": "",
    "justfile": "test a='1': lint\n  sh web/t.sh\nlint:\n  python tools/helper.py\n",
}
CHECK = {"check.sh", "lib/common.sh", "lib/x.sh", "tools/verify.py", "tools/helper.py"}


def judges(command: str, folder: str = "") -> set[str]:
    """Those that are there."""

    def look(path: str) -> Seen | None:
        return Seen(path, FILES[path]) if path in FILES else None

    found = judge_files(command, "/top", folder, look)
    return {path for path in found.programs | found.settings if path in FILES}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("./check.sh", CHECK),
        ("bash -eu check.sh --fast", CHECK),
        ("sh -c './check.sh'", CHECK),
        ("env A=1 timeout 60 ./check.sh", CHECK),
        ("/top/check.sh", CHECK),
        ("if ./check.sh; then :; else exit 1; fi", CHECK),
        ("f() { ./check.sh; }; f", CHECK),
        ("set -o pipefail; ./check.sh | tee log", CHECK),
        ("find . -name x -exec ./check.sh {} +", CHECK),
        ("cd web && ./t.sh", {"web/t.sh"}),
        ("(cd web; sh t.sh) || exit 1", {"web/t.sh"}),
        ("python3 -B tools/helper.py", {"tools/helper.py"}),
        ("python -m tools.helper", {"tools/helper.py"}),
        ("make test", {*CHECK, "web/t.sh", "Makefile", "mk/a.mk"}),
        ("make", {*CHECK, "web/t.sh", "Makefile", "mk/a.mk"}),
        ("make run", {"app.py", "Makefile", "mk/a.mk"}),
        ("make again", {"Makefile", "mk/a.mk"}),
        ("npm test", {"t.js", "lib/common.sh", "package.json"}),
        ("npm --prefix web test", {"web/package.json", "web/t.sh", "package.json", "t.js"}),
        ("pytest -q", {"conftest.py", "pyproject.toml"}),
        ("uv run python -m pytest", {"conftest.py", "pyproject.toml"}),
        ("ruff check .", {"pyproject.toml"}),
        ("just test", {"justfile", "web/t.sh", "tools/helper.py"}),
    ],
)
def test_what_a_gate_runs_is_followed(command: str, files: set[str]) -> None:
    assert judges(command) >= files
    assert judges(command) - files <= {"lib/common.sh", "package.json"}


@pytest.mark.parametrize(
    "command",
    [
        "python app.py | grep -q x",
        'test "$(python app.py)" = x',
        "test -e app.py",
        "grep -q x check.sh",
        "diff app app.py",
        "cargo test",
        "./not-there",
        "../outside.sh",
        "if",
        "",
    ],
)
def test_what_a_gate_looks_at_is_no_judge(command: str) -> None:
    assert judges(command) == set()


def test_a_gate_runs_in_the_folder_of_its_project() -> None:
    assert judges("sh t.sh", "web") == {"web/t.sh"}
    assert judges("sh ../app", "web") == {"app"}


@pytest.mark.parametrize(
    ("path", "old", "new", "is_same"),
    [
        ("package.json", '{"scripts": {"test": "x"}}', '{"scripts": {"test": "true"}}', "no"),
        ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "1"}}', "yes"),
        ("package.json", "", '{"dependencies": {"a": "1"}}', "yes"),
        ("package.json", "{}", "[1]", "no"),
        ("a/pyproject.toml", "[project]\nname = 'a'", "[project]\nname = 'b'", "yes"),
        ("pyproject.toml", "", "[tool.poetry]\nname = 'b'", "yes"),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = '--co'", "no"),
        ("pyproject.toml", "", "not toml", "no"),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", "yes"),
        ("setup.cfg", "", "[tool:pytest]\naddopts = --co\n", "no"),
        ("conftest.py", "", "x", "no"),
        ("check.sh", "x", "x", "no"),
    ],
)
def test_parts_that_say_nothing_about_checks_may_change(
    path: str, old: str, new: str, is_same: str
) -> None:
    assert is_same_judge(path, old.encode(), new.encode()) is (is_same == "yes")


def test_files_that_name_each_other_and_long_ones_end() -> None:
    many = {f"s{n}.sh": f"sh s{n + 1}.sh; sh s{n}.sh; sh s0.sh\n" * 20 for n in range(150)}
    many["Makefile"] = "a: b\n\tsh s0.sh\nb: a\n" + "x" * 60_000
    found = judge_files("make a", "/top", "", lambda p: Seen(p, many[p]) if p in many else None)
    assert len(found.programs) <= 100
