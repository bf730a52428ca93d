"""By which files a gate judges."""

import pytest

from ralph.documents.gate_inputs import FileRead, GateInputs, gate_inputs
from ralph.documents.gate_settings import has_same_gate_settings

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
        "again:\n\t$(MAKE) again\nouter:\n\t$(MAKE) -C sub inner\n"
    ),
    "sub/Makefile": "inner:\n\tsh ../web/t.sh\n",
    "mk/a.mk": "x:\n\ttrue\n",
    "package.json": '{"scripts": {"test": "npm run unit", "pretest": "sh lib/common.sh",'
    ' "unit": "node t.js && npm run unit", "start": "node app.js"}}',
    "t.js": "require('./app.js')",
    "app.js": "",
    "web/t.sh": "",
    "web/package.json": '{"scripts": {"test": "sh t.sh"}}',
    "conftest.py": "",
    "pyproject.toml": "",
    "tox.ini": "[testenv]\ncommands =\n  sh web/t.sh\n  true\n",
    "rules.mk": "include $(wildcard mk/*.mk)\n",
    "tools/t.js": "require('./u.js'); require('../app.js')",
    "tools/u.js": "",
    "tools/check/main.go": "",
    "Taskfile.yml": "tasks:\n  test:\n    cmds:\n      - ./web/t.sh\n",
    "noxfile.py": "session.run('sh', 'web/t.sh')",
    "justfile": "test a='1': lint\n  sh web/t.sh\nlint:\n  python tools/helper.py\n",
}
CHECK = {"check.sh", "lib/common.sh", "lib/x.sh", "tools/verify.py", "tools/helper.py"}


def _inputs(command: str, folder: str = "") -> GateInputs:
    def look(path: str) -> FileRead | None:
        return FileRead(path, FILES[path]) if path in FILES else None

    return gate_inputs(command, "/top", folder, look)


def judges(command: str, folder: str = "") -> set[str]:
    """Those that are there."""
    found = _inputs(command, folder)
    return {path for path in FILES if found.runs(path) or found.has_settings_in(path)}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("./check.sh", CHECK),
        ("bash -eu check.sh --fast", CHECK),
        ("sh -c './check.sh'", CHECK),
        ("env A=1 timeout 60 ./check.sh", CHECK),
        ("env --unset A timeout --signal KILL 60 ./check.sh", CHECK),
        ("make outer", {*CHECK, "Makefile", "mk/a.mk", "sub/Makefile", "web/t.sh"}),
        ("/top/check.sh", CHECK),
        ("$PWD/check.sh", CHECK),
        ('"$(git rev-parse --show-toplevel)/check.sh"', CHECK),
        ("bash -euo pipefail -c ./check.sh", CHECK),
        ("bash -o pipefail check.sh", CHECK),
        ("if ./check.sh; then :; else exit 1; fi", CHECK),
        ("f() { ./check.sh; }; f", CHECK),
        ("set -o pipefail; ./check.sh | tee log", CHECK),
        ("find . -name x -exec ./check.sh {} +", CHECK),
        ("cd web && ./t.sh", {"web/t.sh"}),
        ("(cd web; sh t.sh) || exit 1", {"web/t.sh"}),
        ("python3 -B tools/helper.py", {"tools/helper.py"}),
        ("python -m tools.helper", {"tools/helper.py"}),
        ("deno run -A tools/u.js", {"tools/u.js"}),
        ("go run ./tools/check -v", {"tools/check/main.go"}),
        ("go run tools/check/main.go", {"tools/check/main.go"}),
        ("make test", {*CHECK, "web/t.sh", "Makefile", "mk/a.mk"}),
        ("make", {*CHECK, "web/t.sh", "Makefile", "mk/a.mk"}),
        ("make run", {"app.py", "Makefile", "mk/a.mk"}),
        ("make again", {"Makefile", "mk/a.mk"}),
        ("make -f rules.mk", {*CHECK, "web/t.sh", "rules.mk", "mk/a.mk", "Makefile"}),
        ("tox -q", {"tox.ini", "web/t.sh", "pyproject.toml"}),
        ("npm test", {"t.js", "lib/common.sh", "package.json"}),
        ("npm --prefix web test", {"web/package.json", "web/t.sh", "package.json", "t.js"}),
        ("pytest -q", {"conftest.py", "pyproject.toml", "tox.ini"}),
        ("uv run python -m pytest", {"conftest.py", "pyproject.toml", "tox.ini"}),
        ('"$PYTHON" -m pytest', {"conftest.py", "pyproject.toml", "tox.ini"}),
        ("sudo -u me nice -n 5 ./check.sh", CHECK),
        ("echo web/t.sh | xargs -I{} sh {}", {"web/t.sh"}),
        ("ruff check .", {"pyproject.toml"}),
        ("just test", {"justfile", "web/t.sh", "tools/helper.py"}),
        ("for f in web/*.sh; do sh $f || exit 1; done", {"web/t.sh"}),
        ("RUN=./check.sh; $RUN --fast", CHECK),
        ("D=web; sh $D/t.sh", {"web/t.sh"}),
        ("sh <web/t.sh", {"web/t.sh"}),
        ("cat web/t.sh | sh", {"web/t.sh"}),
        ("cat web/t.sh | sh -s -- tools/helper.py", {"web/t.sh"}),
        ("pushd web && sh t.sh", {"web/t.sh"}),
        ("java -jar app", {"app"}),
        ("nyc -r text mocha", {"package.json"}),
        ("xvfb-run -a dbus-run-session -- sh web/t.sh", {"web/t.sh"}),
        ("prlimit --nofile=64 sh web/t.sh", {"web/t.sh"}),
        ("fish web/t.sh", {"web/t.sh"}),
        ("node tools/t.js", {"tools/t.js", "tools/u.js"}),
        ("task test", {"Taskfile.yml", "web/t.sh"}),
        ("nox -s test", {"noxfile.py", "web/t.sh"}),
        ("hatch run test", {"pyproject.toml"}),
        ('eval "$(cat web/t.sh)"', {"web/t.sh"}),
        ('bash -c "$(cat web/t.sh)"', {"web/t.sh"}),
        ("ls web/*.sh | xargs -n 1 sh", {"web/t.sh"}),
        ("find web -name '*.sh' -exec sh {} +", {"web/t.sh"}),
        ("run-parts web", {"web/t.sh", "web/package.json"}),
        ("! ./check.sh | grep -q bad", CHECK),
        ("BASH_ENV=./web/t.sh bash -c 'test -e x'", {"web/t.sh"}),
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
        "!",
        "",
    ],
)
def test_what_a_gate_looks_at_is_no_judge(command: str) -> None:
    assert judges(command) == set()


def test_settings_count_as_soon_as_they_are_there() -> None:
    found = _inputs("python -m unittest; PYTHONPATH=src python x.py; pytest; mypy .")
    for path in ("unittest.py", "unittest/__init__.py", "src/sitecustomize.py", "mypy.ini"):
        assert found.has_settings_in(path)
    assert found.has_settings_in("deep/down/conftest.py")
    assert not found.has_settings_in("deep/down/mypy.ini")


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
        ("conftest.py", "", "import x\n@x.fixture\ndef a(): ...\nN = 1\n", "yes"),
        ("a/conftest.py", "", "def pytest_sessionfinish(session): ...", "no"),
        ("conftest.py", "collect_ignore = ['a']", "collect_ignore = ['b']", "no"),
        ("conftest.py", "", "from x import pytest_sessionfinish", "no"),
        ("conftest.py", "", "import os\nif 1: os._exit(0)", "no"),
        ("check.sh", "x", "x", "no"),
    ],
)
def test_parts_that_say_nothing_about_checks_may_change(
    path: str, old: str, new: str, is_same: str
) -> None:
    assert has_same_gate_settings(path, old.encode(), new.encode()) is (is_same == "yes")


def test_files_that_name_each_other_and_long_ones_end() -> None:
    many = {f"s{n}.sh": f"sh s{n + 1}.sh; sh s{n}.sh; sh s0.sh\n" * 20 for n in range(150)}
    many["Makefile"] = "a: b\n\tsh s0.sh\nb: a\n" + "x" * 60_000
    found = gate_inputs("make a", "/top", "", lambda p: FileRead(p, many[p]) if p in many else None)
    assert len(found.programs) <= 100
