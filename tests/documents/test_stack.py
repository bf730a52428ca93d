"""What a project is built with, and the gates that follow."""

import json

import pytest

from ralph.documents.gate_commands import cannot_fail
from ralph.documents.stack import found_in, gates_of

NODE = {"scripts": {"test": "jest", "lint": "eslint .", "test:e2e": "cypress", "type-check": "tsc"}}


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
            {"Makefile": "test: build\n\tx\nVAR := 1\nlint :\n", "go.mod": "module x"},
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
    stacks = found_in(files)
    assert [stack.name for stack in stacks] == names
    assert gates_of(stacks) == gates
    assert [cannot_fail(command) for command in gates.values()] == [None] * len(gates)
