"""Find the files in a checkout that decide a gate: the programs it runs, and their settings.

A session that rewrites one of them could turn the gate green. Only programs whose exit status
counts are among them: one whose output another program reads (`./app | grep -q ok`,
`test "$(./app)" = ok`) is what the gate judges.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from posixpath import basename, dirname, join, normpath
from typing import Final, NamedTuple

from ralph.core.policy.programs import started_by
from ralph.core.policy.words import UNKNOWN, Field, names
from ralph.core.shell import tree
from ralph.core.shell.parser import read
from ralph.core.shell.words import TooDeep
from ralph.documents.gate_settings import IN_EVERY_FOLDER, RUNNERS, SETTINGS
from ralph.documents.recipes import (
    INCLUDES,
    VALUES,
    Recipes,
    make_recipes,
    package_recipes,
    tox_recipes,
)

MOST: Final = 100
"""Programs that are read for one gate."""
LONGEST: Final = 100_000
"""Characters of scripts that are read for one gate."""
ANYWHERE: Final = "**"
SET_OPTION: Final = re.compile(r"[-+][a-z]*[oO]")
"""An option of a shell whose value is the next word."""
SHELLS: Final = names("sh bash dash zsh ksh ash fish . source eval")
INTERPRETERS: Final = re.compile(
    r"(python|pypy)[\d.]*|node|nodejs|ruby|perl|php|deno|bun|tsx|ts-node|lua|Rscript|pwsh"
)
FOLDER_OPTIONS: Final = ("-C", "--directory", "--prefix", "--cwd", "--chdir", "--project")
FILE_OPTION: Final = re.compile(
    r"-[fcr]|-jar|--(?:file|makefile|config|config-file|rcfile|project|justfile|require|import)"
)
SHELL_SCRIPT: Final = re.compile(r"#!.*\b(ba|da|z|k)?sh\b")
SCRIPTS: Final = re.compile(r"(?<![\w@+./-])(\./[\w@+/-]+|[\w@+./-]+\.(?:sh|bash))(?![\w@+./-])")
"""Scripts that a file names, whatever its language is."""
IMPORTS: Final = {
    ".py": (r"^[ \t]*(?:import|from)[ \t]+(\w+)", (".py", "/__init__.py")),
    "js": (r"""["']\./([\w-]+)(?:\.[cm]?js)?["']""", (".js", ".cjs", ".mjs", "/index.js")),
}
"""By the end of a file's name: what it imports from its own folder, and ends of those names."""
REFERENCE: Final = re.compile(r"\$[({](\w+)[)}]")
WILD: Final = re.compile(r"[*?[]")


class FileRead(NamedTuple):
    path: str
    """Where it really is, after following links."""
    text: str


ReadFile = Callable[[str], FileRead | None]
"""Reads a file of the checkout, by its path from the top; None if there is none."""


class GateInputs(NamedTuple):
    """The files that a gate depends on, relative to the top of the checkout."""

    programs: frozenset[str]
    """Paths and patterns."""
    settings: frozenset[str]
    """Folders (or `**`) with a pattern of names in each; these files count also if new."""

    def runs(self, path: str) -> bool:
        return path in self.programs or any(fnmatchcase(path, one) for one in self.programs)

    def has_settings_in(self, path: str) -> bool:
        return any(
            dirname(one) in (dirname(path), ANYWHERE) and fnmatchcase(basename(path), basename(one))
            for one in self.settings
        )


def gate_inputs(
    command: str, top: str, folder: str, read_file: ReadFile, path: str = ""
) -> GateInputs:
    """The files of a gate that runs in a folder of the checkout (empty: at its top). `path` is its
    PATH, which may lead into the checkout."""
    inside = [one for one in path.split(":") if one == top or one.startswith(f"{top}/")]
    found = _Search(top, read_file, inside)
    found.shell(command, [folder])
    return GateInputs(frozenset(found.programs), frozenset(found.settings))


class _Search:
    def __init__(self, top: str, read_file: ReadFile, path_folders: Sequence[str]) -> None:
        self.top = top
        self.read_file = read_file
        self.path_folders = path_folders
        self.programs: set[str] = set()
        self.settings: set[str] = set()
        self.left = LONGEST
        self.texts: set[tuple[str, ...]] = set()
        """Scripts that were followed, each with the folders in which it runs."""
        self.values = {"MAKE": "make"}
        """Of variables, as far as the text says; makefiles have this one."""

    def shell(self, text: str, folders: Sequence[str]) -> None:
        """Follow shell text that runs in the first of the folders; the others are guesses."""
        self.left -= len(text)
        if self.left < 0 or (text, *folders) in self.texts:
            return
        self.texts.add((text, *folders))
        try:
            self.script(read(text), [*folders], all_parts="pipefail" in text)
        except (TooDeep, RecursionError):
            return

    def script(self, script: tree.ShellScript, places: list[str], *, all_parts: bool) -> None:
        """Follow the commands whose exit status may be that of the script."""
        for pipeline in script.pipelines:
            # `! ./check | grep bad` succeeds when `check` prints nothing.
            first = 0 if all_parts or pipeline.negated else -1
            read_words = [*self.words_of(pipeline.commands[:-1])]
            for command in pipeline.commands[first:]:
                each = command.body if isinstance(command, tree.Function) else command
                if isinstance(each, tree.Simple):
                    self.simple(each, places, read_words)
                elif isinstance(each, tree.Compound):
                    for word in each.words if each.kind == "for" else (None,):
                        self.values |= {each.name: self.text(word)} if word is not None else {}
                        for inner in each.scripts:
                            self.script(inner, places, all_parts=all_parts)

    def simple(self, simple: tree.Simple, places: list[str], read_words: Sequence[str]) -> None:
        """Follow a command that reads the output of a command with those words."""
        words = [self.text(word) for word in simple.words]
        given = {one.name: "".join(map(self.text, one.words[:1])) for one in simple.assignments}
        self.values |= given
        if words and words[0] in ("env", "export"):
            given |= {word.split("=")[0]: word.partition("=")[2] for word in words[1:]}
        # Each shell first runs the script that one of these variables names.
        self.run_files([given.get("BASH_ENV", ""), given.get("ENV", "")], places)
        if path := given.get("PYTHONPATH"):
            self.settings.update(f"{one}/sitecustomize.py" for one in path.split(":"))
        if words and words[0] in ("cd", "pushd") and len(words) > 1:
            places += [normpath(join(place, words[1])) for place in places]
            return
        files = [self.text(one) for r in simple.redirects if r.operator == "<" for one in r.words]
        scripts = [inner.script for word in simple.words for inner in tree.substitutions(word)]
        printed = [word for s in scripts for p in s.pipelines for word in self.words_of(p.commands)]
        self.command(words, places, [*read_words, *files, *printed])

    def words_of(self, commands: Sequence[tree.Command]) -> Iterator[str]:
        """The words of commands, except options."""
        for one in commands:
            if isinstance(one, tree.Simple):
                words = map(self.text, one.words)
                yield from (word for word in words if word and not word.startswith("-"))
            elif isinstance(one, tree.Compound):
                for pipeline in (each for script in one.scripts for each in script.pipelines):
                    yield from self.words_of(pipeline.commands)

    def text(self, word: tree.Word) -> str:
        """The word; of one that begins with an unknown variable (`$HERE/check.sh`), the rest."""
        if (whole := word.literal) is not None:
            return whole
        first, last = word.parts[0], word.parts[-1]
        known = self.values.get(first.name, "") if isinstance(first, tree.VariableUse) else ""
        rest = last.text if isinstance(last, tree.LiteralText) else ""
        return known + rest if known or not rest.startswith("/") else f".{rest}"

    def command(self, words: Sequence[str], places: list[str], files: Sequence[str] = ()) -> None:
        """Follow one command with its arguments; it may read the files as its input."""
        # A word that only a shell knows, such as `$(PYTHON)` in a makefile, may run the next one.
        words = ["env", *words[1:]] if words[:1] == [""] else words
        if not words:
            return
        name, rest = basename(words[0]), words[1:]
        folders = [value for option, value in pairwise(rest) if option in FOLDER_OPTIONS]
        places = [*places, *(join(place, value) for value in folders for place in places)]
        in_path = [join(folder, words[0]) for folder in self.path_folders]
        self.run_files([words[0]] if "/" in words[0] else in_path, places)
        # `xargs` passes on any of them, in any order.
        given = [*map(Field, files)] if name == "xargs" else [None]
        fields = [*map(Field, words)]
        started = [run for one in given if name != "find" for run in started_by(name, fields, one)]
        for run in started:
            if run.text is not None:
                self.shell(run.text.text.replace(UNKNOWN, ""), places)
            self.command([word.text.replace(UNKNOWN, "") for word in run.words], places, files)
        options = [
            one.partition("=")[::2] if "=" in one else (one, after)
            for one, after in pairwise([*rest, ""])
        ]
        named = [value for option, value in options if FILE_OPTION.fullmatch(option)]
        for place in places:
            self.settings_of(name, [*rest], named, place)
        if name in SHELLS or INTERPRETERS.fullmatch(name):
            if name in SHELLS:
                set_options = [at for at, one in enumerate(rest) if SET_OPTION.fullmatch(one)]
                rest = [one for at, one in enumerate(rest) if at - 1 not in set_options]
            elif name in ("deno", "bun") and rest[:1] in (["run"], ["test"]):
                rest = rest[1:]
            self.interpreter([] if started else rest, places, files)
            return
        self.run_files(named, places)
        if name == "go" and rest[:1] == ["run"]:
            packages = [word for word in rest[1:] if not word.startswith("-")][:1]
            self.run_files([path for one in packages for path in (one, f"{one}/*.go")], places)
        elif name == "run-parts":
            self.run_files([f"{word}/*" for word in rest], places)
        elif "-exec" in rest:
            patterns = [value for option, value in pairwise(rest) if option in ("-name", "-path")]
            found = join("." if rest[0].startswith("-") else rest[0], (patterns or ["*"])[0])
            words = rest[rest.index("-exec") + 1 :]
            self.command([found if one == "{}" else one for one in words], places)

    def interpreter(self, rest: Sequence[str], places: list[str], files: Sequence[str]) -> None:
        """Follow the script, the module or the input of a shell or another interpreter."""
        for at, word in enumerate(rest):
            after = "".join(rest[at + 1 : at + 2])
            if word == "-s":
                break  # the rest are arguments of the script that it reads
            if word == "-m" and after:
                path, first = after.replace(".", "/"), after.partition(".")[0]
                self.run_files([f"{path}.py", f"{path}/__main__.py"], places)
                if after in SETTINGS or first in sys.stdlib_module_names:
                    # A new file of the project with that name is run in its place.
                    ends = (".py", "/__init__.py")
                    self.settings |= {
                        normpath(join(p, first + end)) for p in places for end in ends
                    }
                self.command(rest[at + 1 :], places)
                return
            if word and not word.startswith(("-", "+")):
                self.run_files([word], places)
                return
        self.run_files(files, places)

    def run_files(self, files: Sequence[str], places: list[str]) -> None:
        for name, place in ((name, place) for name in files for place in places):
            path = self.path(place, name)
            if path is None or path in self.programs or len(self.programs) >= MOST:
                continue
            self.programs.add(path)
            found = None if WILD.search(path) else self.read_file(path)
            if found is None or len(found.text) > LONGEST:
                continue
            self.programs.add(found.path)
            here = dirname(found.path)
            inner = list(dict.fromkeys((*places, here)))
            if found.path.endswith((".sh", ".bash")) or SHELL_SCRIPT.match(found.text):
                self.shell(found.text, inner)
                continue
            self.run_files(SCRIPTS.findall(found.text), inner)
            for end_of_name, (pattern, ends) in IMPORTS.items():
                if found.path.endswith(end_of_name) and here not in ("", *inner[:-1]):
                    modules = re.findall(pattern, found.text, re.MULTILINE)
                    self.run_files([module + end for module in modules for end in ends], [here])

    def path(self, place: str, name: str) -> str | None:
        """A path from the top of the checkout; None for what is outside, or no name."""
        inside = name.removeprefix(f"{self.top}/")
        path = normpath(inside if inside != name else join(place, name)) if name else ""
        outside = path.startswith("/") or path.split("/", 1)[0] in ("", ".", "..")
        return None if outside else path

    def settings_of(self, name: str, rest: list[str], named: list[str], place: str) -> None:
        """Note the settings of a program that runs in a folder, and follow what they start."""
        files = SETTINGS.get(name, "").split()
        self.settings.update(normpath(join(place, one)) for one in files)
        if name in IN_EVERY_FOLDER:
            self.settings.update(join(ANYWHERE, one) for one in files)
        if name in ("make", "gmake", "just"):
            for file in (*named, *files):
                recipes = make_recipes(self.makefile(join(place, file), place))
                wanted = [one for one in rest if one in recipes]
                self.recipes(recipes, wanted or [*recipes][:1], place)
        elif name in ("npm", "yarn", "pnpm", "bun"):
            found = self.read_file(normpath(join(place, "package.json")))
            wanted = [*rest, "test"] if {"t", "tst"} & {*rest} else rest
            self.recipes(package_recipes(found.text if found else ""), wanted, place)
        elif name == "tox":
            found = self.read_file(normpath(join(place, "tox.ini")))
            recipes = tox_recipes(found.text if found else "")
            self.recipes(recipes, [*recipes], place)
        elif name in RUNNERS:
            for file in files:
                found = self.read_file(normpath(join(place, file)))
                if found is not None and len(found.text) <= LONGEST:
                    self.run_files(SCRIPTS.findall(found.text), [place])

    def recipes(self, recipes: Recipes, wanted: Sequence[str], place: str) -> None:
        names = list(dict.fromkeys(one for one in wanted if one in recipes))
        for name in names:  # grows
            needs, lines = recipes[name]
            names += [one for one in needs if one in recipes and one not in names]
            for line in lines:
                filled = REFERENCE.sub(lambda found: self.values.get(found[1], found[0]), line)
                self.shell(filled.strip().lstrip("@-+"), [place])

    def makefile(self, path: str, place: str) -> str:
        """The text of a makefile with all that it includes."""
        found = self.read_file(normpath(path))
        if found is None or len(found.text) > LONGEST:
            return ""
        self.settings.add(found.path)
        text = found.text
        self.values |= VALUES.findall(text)
        for name in " ".join(INCLUDES.findall(text)).split():
            included = self.path(place, name.strip("'\"()"))
            if included is not None and included not in self.settings:
                self.settings.add(included)
                text += "\n" + self.makefile(included, place)
        return text
