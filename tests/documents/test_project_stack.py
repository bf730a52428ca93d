"""What a project is built with, and the gates that follow."""

import json

import pytest

from ralph.documents.gate_commands import cannot_fail
from ralph.documents.project_stack import (
    detect_stacks,
    missing_programs,
    preparation_of,
    programs_of,
    suggested_gates,
)

NODE = {"scripts": {"test": "jest", "lint": "eslint .", "test:e2e": "cypress", "type-check": "tsc"}}


def is_on_the_path(program: str) -> bool:
    return "/" not in program


@pytest.mark.parametrize(
    ("files", "names", "gates"),
    [
        ({}, [], {}),
        (
            {"package.json": json.dumps(NODE), "yarn.lock": ""},
            ["Node.js"],
            {
                "test": "yarn run test",
                "typecheck": "yarn run type-check",
                "lint": "yarn run lint",
                "e2e": "yarn run test:e2e",
            },
        ),
        (
            {
                "package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\""}}',
                "tsconfig.json": "{}",
            },
            ["TypeScript"],
            {"typecheck": "npx tsc --noEmit"},
        ),
        ({"package.json": "{"}, ["Node.js"], {}),
        ({"package.json": '{"scripts": [1]}'}, ["Node.js"], {}),
        (
            {"pyproject.toml": "[tool.pytest]\n[tool.mypy]\n[tool.ruff.lint]\n", "uv.lock": ""},
            ["Python"],
            {
                "test": "uv run pytest -q",
                "typecheck": "uv run mypy .",
                "lint": "uv run ruff check .",
            },
        ),
        (
            {"pyproject.toml": "pytest", "poetry.lock": ""},
            ["Python"],
            {"test": "poetry run pytest -q"},
        ),
        ({"setup.py": "extras_require={'test': ['pytest']}"}, ["Python"], {"test": "pytest -q"}),
        (
            {"Makefile": "test: build\n\tx\nVAR := 1\nlint :\n\ty\n", "go.mod": "module x"},
            ["make", "Go"],
            {"test": "make test", "lint": "make lint", "build": "go build ./..."},
        ),
        (
            {"Cargo.toml": "", "pom.xml": "", "Gemfile": "gem 'rspec'"},
            ["Rust", "Java (Maven)", "Ruby"],
            {"test": "cargo test", "build": "cargo build"},
        ),
    ],
)
def test_gates_follow_from_the_files(
    files: dict[str, str], names: list[str], gates: dict[str, str]
) -> None:
    stacks = detect_stacks(files)
    assert [stack.name for stack in stacks] == names
    assert suggested_gates(files, is_on_the_path) == gates
    assert [cannot_fail(command) for command in gates.values()] == [None] * len(gates)


def test_a_gate_whose_program_is_missing_leaves_its_place_to_one_that_can_run() -> None:
    files = {"pyproject.toml": "[tool.pytest]\n[tool.mypy]\n", "tox.ini": "", "noxfile.py": ""}
    assert suggested_gates(files, {"tox", "mypy"}.__contains__) == {
        "test": "tox -q",
        "typecheck": "mypy .",
    }
    assert missing_programs(files, {"tox"}.__contains__) == {"mypy": ["mypy ."]}
    assert missing_programs(files, lambda _: False) == {
        "pytest": ["pytest -q"],
        "mypy": ["mypy ."],
        "nox": ["nox"],
        "tox": ["tox -q"],
    }


@pytest.mark.parametrize(
    ("files", "gates"),
    [
        ({"package.json": '{"scripts": {"test": "echo no tests yet", "lint": "x"}}'}, ["lint"]),
        ({"package.json": '{"scripts": {"test": "true", "pretest": "x"}}'}, ["test"]),
        ({"Makefile": "lint:\n\t@true\n\techo done\ntest: x\nx:\n\ty\n"}, ["test"]),
        ({"Makefile": "check:\n\tpytest\n"}, ["test"]),
    ],
)
def test_a_recipe_that_cannot_fail_is_no_gate(files: dict[str, str], gates: list[str]) -> None:
    assert list(suggested_gates(files, is_on_the_path)) == gates


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("pytest -q", ("pytest",)),
        ("make lint", ("make", "ruff")),
        ("make test", ("make", "pytest")),
        ("npm run test", ("npm", "jest")),
        ("npx tsc --noEmit", ("npx", "tsc")),
    ],
)
def test_the_programs_of_a_gate_are_those_that_it_starts(
    command: str, programs: tuple[str, ...]
) -> None:
    makefile = (
        "all: x\n\tnothing\n\nlint:\n\t@ruff check\n\t$(PYTHON) -m x\n\t.venv/bin/x\n"
        "test: all\n\tcd x && y\n\tCI=1 pytest\n"
    )
    files = {"Makefile": makefile, "package.json": '{"scripts": {"test": "jest --ci"}}'}
    assert programs_of(command, files) == programs


VENV = "python3 -m venv .venv"
PIP = ".venv/bin/pip install -q"


@pytest.mark.parametrize(
    ("files", "setup"),
    [
        ({"pytest.ini": ""}, (VENV, f"{PIP} pytest ruff")),
        ({"requirements.txt": "x"}, (VENV, f"{PIP} -r requirements.txt pytest ruff")),
        ({"setup.py": ""}, (VENV, f"{PIP} -e . pytest ruff")),
        (
            {"pyproject.toml": "[project.optional-dependencies]\ntest = ['pytest']\n"},
            (VENV, f"{PIP} -e '.[test]' pytest ruff"),
        ),
        (
            # Python brings a pip that does not know groups yet.
            {"pyproject.toml": "[project]\n[dependency-groups]\ndev = ['pytest']\n"},
            ("python3 -m venv --upgrade-deps .venv", f"{PIP} -e . --group dev pytest ruff"),
        ),
        (
            {"pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n"},
            ("python3 -m venv --upgrade-deps .venv", f"{PIP} --group dev pytest ruff"),
        ),
        (
            {"pyproject.toml": "[build-system]\n", "setup.cfg": "[metadata]\n"},
            (VENV, f"{PIP} -e . pytest ruff"),
        ),
        ({"setup.cfg": "[flake8]\n"}, (VENV, f"{PIP} pytest ruff")),
        ({"pyproject.toml": "["}, (VENV, f"{PIP} pytest ruff")),
    ],
)
def test_a_checkout_gets_what_its_gates_start(
    files: dict[str, str], setup: tuple[str, ...]
) -> None:
    gates = {"test": ".venv/bin/pytest -q", "lint": ".venv/bin/ruff check ."}
    assert preparation_of(files, gates).setup == setup


def test_a_checkout_is_prepared_by_the_tool_that_has_the_lock_file() -> None:
    gates = {"test": "poetry run pytest -q"}
    assert preparation_of({"poetry.lock": ""}, gates).setup == ("poetry install -q",)
    assert preparation_of({"package-lock.json": "{}"}, {}).reuse == ("node_modules",)
