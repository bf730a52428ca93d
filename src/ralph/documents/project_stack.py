"""Detect a project's languages and tools, and the gates that follow from them."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from ralph.documents.gate_commands import cannot_fail
from ralph.documents.recipes import make_recipes, package_recipes

TARGET: Final = re.compile(r"(?m)^([A-Za-z][\w-]*)[ \t]*:(?!=)")
ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=")
PLAIN: Final = re.compile(r"[\w.+-]+")
"""The name of a program, without a folder and anything that a shell would replace."""
BUILT_IN: Final = str.split("""
    . : [ case cd command echo eval exec exit export false for if printf set test true unset until
    wait while
""")
VIRTUAL_ENVIRONMENTS: Final = (".venv", "venv")
NODE_INSTALLS: Final = {
    "package-lock.json": "npm ci",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
}
"""How the dependencies of a project in JavaScript are installed, by its lock file."""
PYTHON_LOCKS: Final = {
    "uv.lock": ("uv run ", ()),
    "poetry.lock": ("poetry run ", ("poetry install -q",)),
    "pdm.lock": ("pdm run ", ("pdm install -q",)),
}
"""How tools of a Python project are started, and what must run once before; by its lock file."""
PYTHON_FILES: Final = (
    *("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "pytest.ini"),
    *("requirements.txt", "requirements-dev.txt", "requirements-test.txt"),
)
PLACEHOLDER: Final = "no test specified"


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    gates: dict[str, str] = {}


GRADLE: Final = Stack(name="Java (Gradle)", gates={"test": "gradle test"})
BY_FILE: Final = {
    "Cargo.toml": Stack(name="Rust", gates={"test": "cargo test", "build": "cargo build"}),
    "go.mod": Stack(
        name="Go",
        gates={"test": "go test ./...", "lint": "go vet ./...", "build": "go build ./..."},
    ),
    "pom.xml": Stack(name="Java (Maven)", gates={"test": "mvn -q test"}),
    "build.gradle": GRADLE,
    "build.gradle.kts": GRADLE,
}
"""Stacks that one file shows."""
LOOKED_AT: Final = (
    *("Makefile", "package.json", "tsconfig.json", *NODE_INSTALLS),
    *(*PYTHON_FILES, *PYTHON_LOCKS, "mypy.ini", "ruff.toml", *BY_FILE, "Gemfile"),
)
"""Files at the top of a project from which its stack is detected."""


def detect_stacks(files: Mapping[str, str]) -> tuple[Stack, ...]:
    found = [_make(files), _node(files), *_python(files)]
    found += [stack for name, stack in BY_FILE.items() if name in files]
    if "Gemfile" in files:
        gates = {"test": "bundle exec rspec"} if "rspec" in files["Gemfile"] else {}
        found.append(Stack(name="Ruby", gates=gates))
    by_name = {stack.name: stack for stack in found if stack is not None}
    return tuple(by_name.values())


def suggested_gates(files: Mapping[str, str], has_program: Callable[[str], bool]) -> dict[str, str]:
    """Each gate of the first of the project's stacks that has it and its programs. Those of the
    project's virtual environment come first."""
    gates: dict[str, str] = {}
    for name, command, missing in _candidates(files, has_program):
        if not missing:
            gates.setdefault(name, command)
    return gates


def missing_programs(
    files: Mapping[str, str], has_program: Callable[[str], bool]
) -> dict[str, list[str]]:
    """The programs for want of which a gate is not suggested, each with the commands."""
    usable = suggested_gates(files, has_program)
    found: dict[str, list[str]] = {}
    for name, command, missing in _candidates(files, has_program):
        if missing and name not in usable:
            found.setdefault(missing, []).append(command)
    return found


def _candidates(
    files: Mapping[str, str], has_program: Callable[[str], bool]
) -> Iterator[tuple[str, str, str]]:
    """The gates of each stack that may fail: name, command, the first missing program."""
    for stack in detect_stacks(files):
        for name, command in stack.gates.items():
            own = _with_own_program(command, has_program)
            if not _cannot_fail(own, files):
                lacks = (one for one in programs_of(own, files) if not has_program(one))
                yield name, own, next(lacks, "")


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """What a private checkout needs before gates can run there."""

    setup: tuple[str, ...] = ()
    """Commands."""
    reuse: tuple[str, ...] = ()
    """Folders that the commands make and that may be copied from checkout to checkout."""


def _with_own_program(command: str, has_program: Callable[[str], bool]) -> str:
    program, space, rest = command.partition(" ")
    own = (f"{folder}/bin/{program}" for folder in VIRTUAL_ENVIRONMENTS)
    return next(filter(has_program, own), program) + space + rest


def preparation_of(files: Mapping[str, str], gates: Mapping[str, str]) -> Preparation:
    """How to install what the gates need, as far as the project's files say it."""
    for lock, command in NODE_INSTALLS.items():
        if lock in files:
            return Preparation(setup=(command,), reuse=("node_modules",))
    for lock, (run, setup) in PYTHON_LOCKS.items():
        if lock in files and any(command.startswith(run) for command in gates.values()):
            return Preparation(setup=setup)
    for folder in VIRTUAL_ENVIRONMENTS:
        start = f"{folder}/bin/"
        words = (command.partition(" ")[0] for command in gates.values())
        if programs := [word.removeprefix(start) for word in words if word.startswith(start)]:
            needed = " ".join(dict.fromkeys((*_requirements(files), *programs)))
            # Python brings a pip that does not know groups yet.
            options = "--upgrade-deps " if "--group" in needed else ""
            venv = f"python3 -m venv {options}{folder}"
            return Preparation(setup=(venv, f"{folder}/bin/pip install -q {needed}"))
    return Preparation()


def _requirements(files: Mapping[str, str]) -> Iterator[str]:
    """What pip installs for the tests: the project with its first extra for them, or groups."""
    for name in ("requirements-dev.txt", "requirements-test.txt", "requirements.txt"):
        if name in files:
            yield f"-r {name}"
            return
    try:
        project = tomllib.loads(files.get("pyproject.toml", ""))
        extras = project.get("project", {}).get("optional-dependencies", {})
        groups = project.get("dependency-groups", {})
    except (tomllib.TOMLDecodeError, AttributeError, RecursionError):
        return
    names = ("test", "tests", "testing", "dev")
    extra = next((f"'.[{name}]'" for name in names if name in extras), "")
    if extra or "setup.py" in files or {"project", "build-system"} & project.keys():
        yield f"-e {extra or '.'}"
    if not extra:
        yield from (f"--group {name}" for name in names if name in groups)


def programs_of(command: str, files: Mapping[str, str]) -> tuple[str, ...]:
    """The programs that a gate starts, also those of the recipe or the script that it runs."""
    match command.split():
        case ["npx", program, *_]:
            lines = [program]
        case _:
            lines = _recipe(command, files)[1]
    return tuple(dict.fromkeys(filter(None, map(_program, [command, *lines]))))


def _recipe(command: str, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The recipes that a command runs first, and its own lines."""
    match command.split():
        case ["make", *_, target]:
            recipes = make_recipes(files.get("Makefile", ""))
        case ["npm" | "pnpm" | "yarn", *_, target]:
            recipes = package_recipes(files.get("package.json", ""))
        case _:
            return [], []
    first, lines = recipes.get(target, ([], []))
    return [name for name in first if name in recipes], lines


def _cannot_fail(command: str, files: Mapping[str, str]) -> bool:
    """Is it a recipe that succeeds whatever the project holds, such as `echo no tests yet`?"""
    first, lines = _recipe(command, files)
    return bool(lines) and not first and all(cannot_fail(line.lstrip(" \t@+")) for line in lines)


def _program(line: str) -> str:
    """The program at the beginning of a shell line; empty if only a shell could tell."""
    words = [word for word in line.strip().lstrip("@-+").split() if not ASSIGNED.match(word)]
    return words[0] if words and PLAIN.fullmatch(words[0]) and words[0] not in BUILT_IN else ""


def _make(files: Mapping[str, str]) -> Stack | None:
    targets = set(TARGET.findall(files.get("Makefile", "")))
    known = ("test", "typecheck", "lint", "e2e")
    gates = {name: f"make {name}" for name in known if name in targets}
    if "check" in targets:
        gates.setdefault("test", "make check")
    return Stack(name="make", gates=gates) if gates else None


def _node(files: Mapping[str, str]) -> Stack | None:
    if "package.json" not in files:
        return None
    scripts = package_recipes(files["package.json"])
    run = "pnpm run" if "pnpm-lock.yaml" in files else "yarn run" if "yarn.lock" in files else ""
    run = run or "npm run"
    gates = {}
    for gate in ("test", "typecheck", "lint", "build", "integration", "e2e", "coverage"):
        names = (gate, f"test:{gate}", gate.replace("check", "-check"))
        script = next((name for name in names if name in scripts), None)
        if script is not None and PLACEHOLDER not in scripts[script][1][0]:
            gates[gate] = f"{run} {script}"
    if "typecheck" not in gates and "tsconfig.json" in files:
        gates["typecheck"] = "npx tsc --noEmit"
    return Stack(name="TypeScript" if "tsconfig.json" in files else "Node.js", gates=gates)


def _python(files: Mapping[str, str]) -> Iterator[Stack]:
    if not any(name in files for name in PYTHON_FILES):
        return
    said = "\n".join(files.get(name, "") for name in PYTHON_FILES)
    run = next((run for lock, (run, _) in PYTHON_LOCKS.items() if lock in files), "")
    gates = {}
    if "pytest" in said or "pytest.ini" in files:
        gates["test"] = f"{run}pytest -q"
    if "[tool.mypy]" in said or "mypy.ini" in files:
        gates["typecheck"] = f"{run}mypy ."
    if "[tool.ruff" in said or "ruff.toml" in files:
        gates["lint"] = f"{run}ruff check ."
    yield Stack(name="Python", gates=gates)
    if "noxfile.py" in files:
        yield Stack(name="nox", gates={"test": f"{run}nox"})
    if "tox.ini" in files or "[tool.tox" in said:
        yield Stack(name="tox", gates={"test": f"{run}tox -q"})
