"""The files in a checkout by which a gate judges: programs that it runs, and their settings.

Whoever can rewrite them can turn a gate green. Only a program whose exit status counts is among
them: one whose output another program reads (`./app | grep -q ok`, `test "$(./app)" = ok`) is what
is judged.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from posixpath import basename, dirname, join, normpath
from typing import Final, NamedTuple

from ralph.core.shell.insides import literal
from ralph.core.shell.reading import TooDeep, read
from ralph.core.shell.tree import Command, Compound, Function, Script, Simple, Text, Word

MOST: Final = 100
"""Files that are looked into for one gate."""
LONGEST: Final = 100_000
"""Characters of scripts that are read for one gate."""

PYTEST: Final = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
MAKE: Final = ("GNUmakefile", "makefile", "Makefile")
PACKAGE: Final = ("package.json", ".npmrc")
JEST: Final = tuple(f"jest.config.{end}" for end in ("js", "ts", "mjs", "cjs", "json"))
VITE: Final = tuple(
    f"{name}.config.{end}" for name in ("vitest", "vite") for end in ("js", "ts", "mjs", "mts")
)
ESLINT: Final = (
    *(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts")),
    *(f".eslintrc{end}" for end in ("", ".js", ".cjs", ".json", ".yml", ".yaml")),
)
SETTINGS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("pytest", "py.test"), (*PYTEST, "conftest.py", ".coveragerc")),
    "coverage": (".coveragerc", *PYTEST, "conftest.py"),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "nox": ("noxfile.py",),
    "ruff": ("ruff.toml", ".ruff.toml", "pyproject.toml"),
    "mypy": ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    "flake8": (".flake8", "setup.cfg", "tox.ini"),
    "pylint": (".pylintrc", "pylintrc", "pyproject.toml", "setup.cfg"),
    "pyright": ("pyrightconfig.json", "pyproject.toml"),
    "pre-commit": (".pre-commit-config.yaml",),
    **dict.fromkeys(("make", "gmake"), MAKE),
    "just": ("justfile", ".justfile", "Justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile", "rakefile"),
    "cargo": (".cargo/config.toml", ".cargo/config"),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun"), (*PACKAGE, *JEST, *VITE)),
    "jest": ("package.json", *JEST),
    "vitest": VITE,
    "mocha": ("package.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml"),
    "eslint": ("package.json", *ESLINT),
    "tsc": ("tsconfig.json",),
    "mvn": ("pom.xml", ".mvn/maven.config"),
    "gradle": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
}
"""By the name of a program: where its settings may be, and so what it runs."""
SETTINGS["gradlew"], SETTINGS["mvnw"] = SETTINGS["gradle"], SETTINGS["mvn"]

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", ".", "source"})
INTERPRETERS: Final = re.compile(
    r"(python|pypy)[\d.]*|node|nodejs|ruby|perl|php|deno|bun|tsx|ts-node|lua|Rscript|pwsh"
)
WRAPPERS: Final = re.compile(
    r"env|time|timeout|nice|ionice|nohup|stdbuf|setsid|sudo|doas|exec|command|builtin|xargs|chronic"
    r"|npx|bunx|uvx|run|tool|poetry|pipenv|pdm|hatch|rye|uv|pixi|cross-env|xvfb-run|caffeinate|time"
    r"|bundle|!"
)
"""Programs that start the one in their arguments, and such words between the two."""
OWN_WORD: Final = re.compile(r"-.*|\w+=.*|\d+(\.\d+)?[smhd]?")
"""What stands between a wrapper and its command."""
FOLDER_OPTIONS: Final = frozenset(
    {"-C", "--directory", "--prefix", "--cwd", "--chdir", "--project"}
)
FILE_OPTIONS: Final = frozenset(
    {"-f", "-c", "--file", "--makefile", "--config", "--config-file", "--rcfile", "--project"}
    | {"--justfile", "-r", "--require", "--import"}
)
VALUES: Final = re.compile(r"^(\w+)[ \t]*[?:]{0,2}=[ \t]*(.*)$", re.MULTILINE)
REFERENCE: Final = re.compile(r"\$[({](\w+)[)}]|\{\{\s*(\w+)\s*\}\}")
QUOTED: Final = re.compile(r"""["']([\w@+./-]+\.(?:sh|bash))["']""")
IMPORTS: Final = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
INCLUDES: Final = re.compile(r"^[ \t]*[-s]?(?:include|import)[ \t]+(.+)$", re.MULTILINE)

UNIMPORTANT: Final = frozenset(
    {"name", "version", "description", "keywords", "author", "contributors", "license", "private"}
    | {"repository", "bugs", "homepage", "funding", "engines", "files", "packageManager"}
    | {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "workspaces"}
)
"""Of a `package.json`."""
MANAGERS: Final = frozenset({"poetry", "uv", "pdm", "hatch", "setuptools", "flit", "rye"})
"""Tables of a `pyproject.toml` that say nothing about checks."""


class Seen(NamedTuple):
    """A file as it is."""

    path: str
    """Where it really is, behind links."""
    text: str


Look = Callable[[str], Seen | None]
"""Reads a file of the checkout, by its path from the top; None if there is none."""


class JudgeFiles(NamedTuple):
    """By what a gate judges, as paths from the top of the checkout."""

    programs: frozenset[str]
    settings: frozenset[str]
    """They count as soon as they are there."""


def judge_files(command: str, top: str, folder: str, look: Look) -> JudgeFiles:
    """Those of a gate that runs in a folder of the checkout (empty: at its top)."""
    found = _Search(top, look)
    found.shell(command, [folder])
    return JudgeFiles(frozenset(found.programs), frozenset(found.settings))


def is_same_judge(path: str, old: bytes, new: bytes) -> bool:
    """Do two versions of a file judge in the same way? Some hold much besides settings of tools."""
    try:
        match basename(path):
            case "package.json":
                parts = [json.loads(text or b"{}") for text in (old, new)]
                before, after = ({k: p[k] for k in p if k not in UNIMPORTANT} for p in parts)
            case "pyproject.toml":
                tools = [tomllib.loads(text.decode()).get("tool", {}) for text in (old, new)]
                before, after = ({k: t[k] for k in t if k not in MANAGERS} for t in tools)
            case "setup.cfg" | "tox.ini":
                before, after = _checks(old.decode()), _checks(new.decode())
            case _:
                return False
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return False
    return bool(before == after)


def _checks(ini: str) -> dict[str, str]:
    """The sections of a file that say something about checks."""
    parts = re.split(r"^\[(.+?)\]", f"[]\n{ini}", flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=False))
    return {
        name: text.strip()
        for name, text in sections.items()
        if name != "metadata" and not name.startswith("options")
    }


class _Search:
    """Goes from a command to the files that it runs, and on to what those run."""

    def __init__(self, top: str, look: Look) -> None:
        self.top = top
        self.look = look
        self.programs: set[str] = set()
        self.settings: set[str] = set()
        self.left = LONGEST
        self.followed: set[tuple[str, ...]] = set()
        """Targets of makefiles and scripts of packages: one may call itself."""

    def shell(self, text: str, folders: list[str]) -> None:
        """Shell text that runs in the first of the folders; the others are further guesses."""
        self.left -= len(text)
        if self.left < 0:
            return
        try:
            script = read(text)
        except (TooDeep, RecursionError):
            return
        places = list(folders)
        for command in _deciding(script, all_of_them="pipefail" in text):
            words = [_told(word) for word in command.words]
            if words and words[0] == "cd" and len(words) > 1:
                places += [normpath(join(place, words[1])) for place in folders]
            else:
                self.call(words, places)

    def call(self, words: Sequence[str], places: list[str]) -> None:
        """One command with its arguments."""
        words = _unwrapped(words)
        if not words:
            return
        name, rest = basename(words[0]), words[1:]
        for option, value in pairwise(rest):
            if option in FOLDER_OPTIONS:
                places = [*places, *(join(place, value) for place in places)]
        if "/" in words[0]:
            self.file(words[0], places)
        if name in SHELLS or INTERPRETERS.fullmatch(name):
            self.interpreted(name, rest, places)
            return
        for place in places:
            self.settings.update(normpath(join(place, one)) for one in SETTINGS.get(name, ()))
        for option, value in _options(rest):
            if option in FILE_OPTIONS:
                self.file(value, places)
        for at, word in enumerate(rest):
            if word in ("-exec", "-execdir"):
                self.call(rest[at + 1 :], places)
        self.follow(name, rest, places)

    def interpreted(self, name: str, rest: Sequence[str], places: list[str]) -> None:
        """A shell or another interpreter: its script, its text, or its module."""
        for at, word in enumerate(rest):
            after = rest[at + 1] if at + 1 < len(rest) else ""
            if name in SHELLS and re.fullmatch(r"-[a-z]*c", word):
                self.shell(after, places)
                return
            if word == "-m" and after:
                for end in (".py", "/__main__.py"):
                    self.file(after.replace(".", "/") + end, places)
                if after in SETTINGS:  # or else a new file of that name is run in its place
                    self.settings.update(normpath(join(place, f"{after}.py")) for place in places)
                self.call(rest[at + 1 :], places)
                return
            if not word.startswith("-"):
                self.file(word, places)
                return

    def within(self, place: str, name: str) -> str | None:
        """A path from the top of the checkout; None for what is outside, or no name."""
        inside = name.removeprefix(f"{self.top}/")
        path = normpath(inside if inside != name else join(place, name)) if name else ""
        outside = path.startswith("/") or path.split("/", 1)[0] in ("", ".", "..")
        return None if outside else path

    def file(self, name: str, places: list[str]) -> None:
        """A file that is run, or read as settings; and what it names itself."""
        for place in places:
            path = self.within(place, name)
            if path is None or path in self.programs or len(self.programs) >= MOST:
                continue
            self.programs.add(path)
            seen = self.look(path)
            if seen is not None and len(seen.text) <= LONGEST:
                self.programs.add(seen.path)
                self.inside(seen, list(dict.fromkeys((*places, dirname(seen.path)))))

    def inside(self, seen: Seen, places: list[str]) -> None:
        """What a script names."""
        first = seen.text.partition("\n")[0]
        if seen.path.endswith((".sh", ".bash")) or re.match(r"#!.*\b(ba|da|z|k)?sh\b", first):
            self.shell(seen.text, places)
            return
        for name in QUOTED.findall(seen.text):
            self.file(name, places)
        here = dirname(seen.path)
        if seen.path.endswith(".py") and here not in ("", *places[:-1]):
            for name in IMPORTS.findall(seen.text):
                self.file(f"{name}.py", [here])

    def follow(self, name: str, rest: Sequence[str], places: list[str]) -> None:
        """What `make` and `npm` run."""
        for place in places:
            if name in ("make", "gmake", "just"):
                named = [value for option, value in _options(rest) if option in FILE_OPTIONS]
                for file in (*named, *SETTINGS[name]):
                    self.targets(join(place, file), place, [one for one in rest if one != file])
            elif name in ("npm", "yarn", "pnpm", "bun"):
                self.scripts(join(place, "package.json"), place, rest)

    def targets(self, path: str, place: str, rest: Sequence[str]) -> None:
        """What a makefile runs for some targets, and for what those need."""
        rules = _rules(self.text_of(path, place))
        wanted = [one for one in rest if one in rules] or list(rules)[:1]
        while wanted:
            name = wanted.pop()
            if (path, name) in self.followed or name not in rules:
                continue
            self.followed.add((path, name))
            needs, lines = rules[name]
            wanted += needs
            for line in lines:
                self.shell(line.strip().lstrip("@-+"), [place])

    def text_of(self, path: str, place: str) -> str:
        """A makefile with all that it includes."""
        seen = self.look(normpath(path))
        if seen is None or len(seen.text) > LONGEST:
            return ""
        self.settings.add(seen.path)
        text = seen.text
        for names in INCLUDES.findall(text):
            for name in names.split():
                included = self.within(place, name.strip("'\""))
                if included is not None and included not in self.settings:
                    self.settings.add(included)
                    text += "\n" + self.text_of(included, place)
        return text

    def scripts(self, path: str, place: str, rest: Sequence[str]) -> None:
        seen = self.look(normpath(path))
        try:
            table = json.loads(seen.text)["scripts"] if seen is not None else {}
            wanted = [name for name in rest if name in table]
            wanted += ["test"] if {"t", "tst"} & {*rest} else []
            texts = [table.get(f"{hook}{name}") for name in wanted for hook in ("pre", "", "post")]
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if (path, *wanted) not in self.followed:
            self.followed.add((path, *wanted))
            for text in texts:
                if isinstance(text, str):
                    self.shell(text, [place])


def _deciding(script: Script, *, all_of_them: bool) -> Iterator[Simple]:
    """Simple commands whose exit status may be that of the script."""
    for pipeline in script.pipelines:
        for command in pipeline.commands if all_of_them else pipeline.commands[-1:]:
            yield from _inner(command, all_of_them=all_of_them)


def _inner(command: Command, *, all_of_them: bool) -> Iterator[Simple]:
    match command:
        case Simple():
            yield command
        case Compound():
            for script in command.scripts:
                yield from _deciding(script, all_of_them=all_of_them)
        case Function():
            yield from _inner(command.body, all_of_them=all_of_them)


def _told(word: Word) -> str:
    """The word; of one that begins with a variable (`$HERE/check.sh`), what comes after it."""
    whole = literal(word)
    if whole is not None:
        return whole
    last = word.parts[-1]
    return last.text.lstrip("/") if isinstance(last, Text) else ""


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """Without `env A=1`, `timeout 60`, `uv run`, …"""
    at = 0
    while at < len(words) and WRAPPERS.fullmatch(basename(words[at])):
        at += 1
        while at < len(words) and OWN_WORD.fullmatch(words[at]):
            at += 1
    return words[at:]


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, after in zip(words, [*words[1:], ""], strict=False):
        name, sign, value = word.partition("=")
        yield (name, value) if sign else (word, after)


def _rules(makefile: str) -> dict[str, tuple[list[str], list[str]]]:
    """Targets, each with what it needs and the lines that it runs; in the order of the text."""
    values = dict(VALUES.findall(makefile)) | {"MAKE": "make"}
    rules: dict[str, tuple[list[str], list[str]]] = {}
    lines: list[str] = []
    for line in makefile.replace("\\\n", " ").splitlines():
        filled = REFERENCE.sub(lambda found: values.get(found[1], found[0]), line)
        if filled[:1] in ("\t", " "):
            lines.append(filled)
        elif ":" in filled and not filled.startswith("#") and not VALUES.match(filled):
            names, _, rest = filled.partition(":")
            needs, _, command = rest.lstrip(":").partition(";")
            lines = [command] if command.strip() else []
            for name in names.removeprefix("@").split():
                if not name.startswith("."):
                    rules.setdefault(name, ([], lines))[0].extend(needs.split())
    return rules
