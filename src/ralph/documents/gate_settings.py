"""Which settings files programs have, and whether two versions of one judge in the same way."""

import ast
import json
import re
from posixpath import basename
from typing import Final

from ralph.core.policy.words import names
from ralph.core.toml_text import parse_toml

TABLE: Final = """
pytest py.test coverage: pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg conftest.py \
.coveragerc
npm yarn pnpm bun: package.json .npmrc jest.config.* vitest.config.* vite.config.*
make gmake: GNUmakefile makefile Makefile
gradle gradlew: build.gradle build.gradle.kts settings.gradle settings.gradle.kts
mvn mvnw: pom.xml .mvn/maven.config
tox: tox.ini pyproject.toml setup.cfg
nox: noxfile.py
ruff: ruff.toml .ruff.toml pyproject.toml
mypy: mypy.ini .mypy.ini pyproject.toml setup.cfg
flake8: .flake8 setup.cfg tox.ini
pylint: .pylintrc pylintrc pyproject.toml setup.cfg
pyright: pyrightconfig.json pyproject.toml
pre-commit: .pre-commit-config.yaml
lefthook: lefthook.yml .lefthook.yml lefthook-local.yml
just: justfile .justfile Justfile
task: Taskfile.yml Taskfile.yaml
rake: Rakefile rakefile
cargo: .cargo/config.toml .cargo/config
jest: package.json jest.config.*
vitest: vitest.config.* vite.config.*
mocha: package.json .mocharc.*
eslint: package.json eslint.config.* .eslintrc*
tsc: tsconfig.json
playwright: playwright.config.*
biome: biome.json biome.jsonc
deno: deno.json deno.jsonc
rspec: .rspec
phpunit: phpunit.xml phpunit.xml.dist
rubocop: .rubocop.yml
cypress: cypress.config.*
karma: karma.conf.*
ava: package.json ava.config.*
nyc c8: package.json .nycrc* .c8rc*
prettier: package.json .prettierrc* prettier.config.*
stylelint: package.json .stylelintrc* stylelint.config.*
phpstan: phpstan.neon phpstan.neon.dist
psalm: psalm.xml
shellcheck: .shellcheckrc
clang-tidy: .clang-tidy
swiftlint: .swiftlint.yml
busted: .busted
luacheck: .luacheckrc
prove: .proverc
bazel bazelisk: .bazelrc
golangci-lint: .golangci.yml .golangci.yaml .golangci.toml .golangci.json
cmake: CMakeLists.txt
composer: composer.json
hatch pdm pixi poe: pyproject.toml
mise: mise.toml .mise.toml
invoke inv: tasks.py
fab: fabfile.py
ant: build.xml
meson: meson.build
scons: SConstruct
turbo: turbo.json package.json
nx: nx.json package.json
docker docker-compose: Dockerfile compose.yml compose.yaml docker-compose.yml docker-compose.yaml
nix: flake.nix
earthly: Earthfile
"""
SETTINGS: Final = {
    name: files.strip()
    for names, files in (line.split(":") for line in TABLE.strip().splitlines())
    for name in names.split()
}
"""By the name of a program: where its settings may be, which decide what it runs."""
RUNNERS: Final = names(
    "task nox rake composer hatch pdm pixi poe mise invoke inv fab ant pre-commit lefthook"
)
"""Programs whose settings say which scripts they run."""
IN_EVERY_FOLDER: Final = frozenset({"pytest", "py.test", "ruff", "eslint"})
"""Programs that also obey such files in folders further down."""
UNIMPORTANT: Final = frozenset(
    {"name", "version", "description", "keywords", "author", "contributors", "license", "private"}
    | {"repository", "bugs", "homepage", "funding", "engines", "files", "packageManager"}
    | {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "workspaces"}
)
"""Of a `package.json`."""
MANAGERS: Final = frozenset({"poetry", "uv", "pdm", "hatch", "setuptools", "flit", "rye"})
"""Tables of a `pyproject.toml` that say nothing about checks."""


def has_same_gate_settings(path: str, old: bytes, new: bytes) -> bool:
    """Whether two versions of a file judge in the same way. Some contain more than settings."""
    try:
        match basename(path):
            case "package.json":
                parts = [json.loads(text or b"{}") for text in (old, new)]
                before, after = ({k: p[k] for k in p if k not in UNIMPORTANT} for p in parts)
            case "pyproject.toml":
                tools = [parse_toml(text.decode()).get("tool", {}) for text in (old, new)]
                before, after = ({k: t[k] for k in t if k not in MANAGERS} for t in tools)
            case "setup.cfg" | "tox.ini":
                before, after = _checks(old.decode()), _checks(new.decode())
            case "conftest.py":
                return _steering(old.decode()) == _steering(new.decode())
            case _:
                return False
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return False
    return bool(before == after)


def _checks(ini: str) -> dict[str, str]:
    parts = re.split(r"^\[(.+?)\]", f"[]\n{ini}", flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=False))
    return {
        name: text.strip()
        for name, text in sections.items()
        if name != "metadata" and not name.startswith("options")
    }


def _steering(conftest: str) -> list[str]:
    """What steers pytest itself. Fixtures and other helpers are part of the tests."""
    return [ast.dump(one) for one in ast.parse(conftest).body if not _is_helper(one)]


def _is_helper(statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            names = [name]
        case ast.ClassDef() | ast.Expr(value=ast.Constant()):
            names = []
        case ast.ImportFrom(names=imported) | ast.Import(names=imported):
            names = [one.asname or one.name for one in imported]
        case ast.Assign() | ast.AnnAssign():
            parts = [*ast.walk(statement)]
            if any(isinstance(one, ast.Call) for one in parts):
                return False
            names = [one.id for one in parts if isinstance(one, ast.Name)]
        case _:
            return False
    return not any(name.startswith(("pytest_", "collect_", "*")) for name in names)
