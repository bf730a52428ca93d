"""What a project is built with, and the gates that follow from it."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

LOOKED_AT: Final = (
    *("package.json", "pyproject.toml", "setup.cfg", "tox.ini", "Cargo.toml", "go.mod"),
    *("Makefile", "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "uv.lock"),
    *("pnpm-lock.yaml", "yarn.lock", "tsconfig.json", "mypy.ini", "ruff.toml", "pytest.ini"),
)
"""Files at the top of a project that tell it."""
TARGET: Final = re.compile(r"(?m)^([A-Za-z][\w-]*)[ \t]*:(?!=)")
PLACEHOLDER: Final = "no test specified"


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of project, and the commands that check it."""

    name: str
    gates: dict[str, str] = {}


def found_in(files: Mapping[str, str]) -> tuple[Stack, ...]:
    """All that the files tell of, by their names; the first one to name a gate has it."""
    makers = (_make, _node, _python, _rust, _go, _java, _ruby)
    return tuple(stack for stack in (maker(files) for maker in makers) if stack is not None)


def gates_of(stacks: Iterable[Stack]) -> dict[str, str]:
    """One command for each gate."""
    gates: dict[str, str] = {}
    for stack in stacks:
        for name, command in stack.gates.items():
            gates.setdefault(name, command)
    return gates


def _make(files: Mapping[str, str]) -> Stack | None:
    targets = set(TARGET.findall(files.get("Makefile", "")))
    known = {"test": "test", "typecheck": "typecheck", "lint": "lint", "e2e": "e2e"}
    gates = {gate: f"make {name}" for gate, name in known.items() if name in targets}
    return Stack(name="make", gates=gates) if gates else None


def _node(files: Mapping[str, str]) -> Stack | None:
    if "package.json" not in files:
        return None
    scripts = _scripts(files["package.json"])
    run = "pnpm run" if "pnpm-lock.yaml" in files else "yarn run" if "yarn.lock" in files else ""
    run = run or "npm run"
    gates = {}
    for gate in ("test", "typecheck", "lint", "build", "integration", "e2e", "coverage"):
        names = (gate, f"test:{gate}", gate.replace("check", "-check"))
        script = next((name for name in names if name in scripts), None)
        if script is not None and PLACEHOLDER not in scripts[script]:
            gates[gate] = f"{run} {script}"
    if "typecheck" not in gates and "tsconfig.json" in files:
        gates["typecheck"] = "npx tsc --noEmit"
    return Stack(name="TypeScript" if "tsconfig.json" in files else "Node.js", gates=gates)


def _scripts(text: str) -> dict[str, str]:
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: Any = package.get("scripts") if isinstance(package, dict) else None
    scripts = found if isinstance(found, dict) else {}
    return {name: line for name, line in scripts.items() if isinstance(line, str)}


def _python(files: Mapping[str, str]) -> Stack | None:
    project = files.get("pyproject.toml")
    if project is None and "setup.cfg" not in files:
        return None
    said = "\n".join(files.get(name, "") for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
    run = "uv run " if "uv.lock" in files else ""
    gates = {}
    if "pytest" in said or "pytest.ini" in files:
        gates["test"] = f"{run}pytest -q"
    if "[tool.mypy]" in said or "mypy.ini" in files:
        gates["typecheck"] = f"{run}mypy ."
    if "[tool.ruff" in said or "ruff.toml" in files:
        gates["lint"] = f"{run}ruff check ."
    return Stack(name="Python", gates=gates)


def _rust(files: Mapping[str, str]) -> Stack | None:
    if "Cargo.toml" not in files:
        return None
    return Stack(name="Rust", gates={"test": "cargo test", "build": "cargo build"})


def _go(files: Mapping[str, str]) -> Stack | None:
    if "go.mod" not in files:
        return None
    gates = {"test": "go test ./...", "lint": "go vet ./...", "build": "go build ./..."}
    return Stack(name="Go", gates=gates)


def _java(files: Mapping[str, str]) -> Stack | None:
    if "pom.xml" in files:
        return Stack(name="Java (Maven)", gates={"test": "mvn -q test"})
    if "build.gradle" in files or "build.gradle.kts" in files:
        return Stack(name="Java (Gradle)", gates={"test": "gradle test"})
    return None


def _ruby(files: Mapping[str, str]) -> Stack | None:
    if "Gemfile" not in files:
        return None
    gates = {"test": "bundle exec rspec"} if "rspec" in files["Gemfile"] else {}
    return Stack(name="Ruby", gates=gates)
