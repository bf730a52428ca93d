"""Find the paths that the user's git config and hooks name in a checkout."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import Git, text
from ralph.core.errors import UnusableData
from ralph.core.sandbox_rules import is_inside
from ralph.core.unsafe_git_config import LARGEST, unsafe_settings
from ralph.files import names_in, read_regular
from ralph.git_layout import find_layout
from ralph.ports.executor import CommandRunner

READ_ONLY: Final = (
    *("core.excludesfile", "core.attributesfile", "commit.template", "blame.ignorerevsfile"),
    *("mailmap.file", "http.sslcainfo", "gpg.ssh.allowedsignersfile"),
)
"""Files that git reads, and never runs."""
SECRET_KEY: Final = re.compile(r"(token|password|passwd|pass|secret|extraheader)$")
PASSWORD: Final = re.compile(r"://[^/@\s]*:[^/@\s]+@")
"""In a setting such as `url.https://me:key@example.com/.insteadOf`."""
RUN: Final = re.compile(
    r".*(cmd|command|hook|helper|driver|program|editor|pager|askpass|textconv|difffilter|pack)"
    r"|core\.(fsmonitor|gitproxy)|filter\..*\.(clean|smudge|process)|diff\.external|pager\..*"
    r"|(mergetool|difftool|man|browser)\..*\.path"
)
"""Settings whose value git runs: it does so as soon as what they name is there."""
HOOKS: Final = ("core.hookspath", "init.templatedir")
INCLUDE: Final = re.compile(r"include(if\..*)?\.path")
INSTALLED: Final = frozenset({".git", ".venv", "venv", "node_modules", "vendor", ".tox"})
"""Folders that tools fill: to protect a program in one would keep a session from filling it."""
OF_HOOKS: Final = ("pre-commit", "lefthook")
"""Programs that are run by hooks, and whose settings say what they run."""
HUSKY: Final = "_"
"""Its hooks call the scripts in the folder above."""


class NamedPath(NamedTuple):
    """A path, whether it is there or not."""

    path: str
    is_folder: bool
    counts_when_made: bool
    """If it is not there: would it count as soon as it is?"""
    is_run: bool = True
    """Does git run it, or read settings in it?"""
    holds_secret: bool = False


class GitConfig(NamedTuple):
    named: tuple[NamedPath, ...]
    name: str
    email: str
    nested: tuple[NamedPath, ...] = ()
    """The same in other repositories in the checkout."""


def read_git_config(executor: CommandRunner, top: str) -> GitConfig:
    """Everything that settings name, wherever those are written, and who commits."""
    found: dict[str, NamedPath] = {}
    git = Git(executor, top)
    settings = [*_listed(git)]
    last = {key: value for _, key, value in settings}
    seen = {_whole(origin, top) for origin, _, _ in settings}
    for origin, key, value in settings:  # grows
        for one in _named(origin, key, value, top):
            if one.path not in found or one.holds_secret:
                found[one.path] = one
        if INCLUDE.fullmatch(key):
            # Its condition may hold later.
            path = _whole(value, os.path.dirname(_whole(origin, top)))
            if path not in seen and os.path.isfile(path):
                seen.add(path)
                with suppress(UnusableData):
                    settings += _listed(git, "--file", path)
    hooks = last.get("core.hookspath", os.path.join(find_layout(top).common_dir, "hooks"))
    for one in _named_by_hooks(_hooks_folder(hooks, top), top):
        found.setdefault(one.path, one)
    return GitConfig(
        named=tuple(found.values()),
        name=last.get("user.name", ""),
        email=last.get("user.email", ""),
    )


def _listed(git: Git, *where: str) -> Iterator[tuple[str, str, str]]:
    """Every setting: the file that it is in, its name and its value."""
    parts = text(git.run("config", *where, "--list", "--show-origin", "-z")).split("\0")
    for origin, setting in zip(parts[::2], parts[1::2], strict=False):
        if origin.startswith("file:"):  # Ralph's own git says more on its command line
            key, _, value = setting.partition("\n")
            yield origin.removeprefix("file:"), key, value


def named_in(
    executor: CommandRunner, nested: Iterable[str], *, has_hooks: bool = False
) -> Iterator[NamedPath]:
    """What settings of other repositories in a checkout name in its files: git runs it there, and
    where one is a submodule, also from the top. `has_hooks`: settings of all repositories may name
    a folder in each."""
    for folder in nested:
        with suppress(UnusableData):
            own = find_layout(folder).common_dir
            with suppress(OSError):
                odd = unsafe_settings(read_regular(os.path.join(own, "config"), most=LARGEST))
                # git asks for no more than that in a submodule: there is no need to ask it.
                is_odd = any(not one.startswith("core: worktree") for one in odd)
                if is_odd or has_hooks or [*_hooks(os.path.join(own, "hooks"))]:
                    named = read_git_config(executor, folder).named
                    files = [one for one in named if "/.git/" not in one.path]
                    yield from files
                    if any(one.is_run and is_inside(one.path, folder) for one in files):
                        # A checkout writes them as they are in there.
                        yield NamedPath(own, is_folder=True, counts_when_made=True)


def _named(origin: str, key: str, value: str, top: str) -> Iterator[NamedPath]:
    file = _whole(origin, top)
    is_secret = bool(SECRET_KEY.search(key) or PASSWORD.search(f"{key} {value}"))
    yield NamedPath(file, is_folder=False, counts_when_made=True, holds_secret=is_secret)
    if key in HOOKS:
        yield NamedPath(_hooks_folder(value, top), is_folder=True, counts_when_made=True)
    elif INCLUDE.fullmatch(key):
        path = _whole(value, os.path.dirname(file))
        yield NamedPath(path, is_folder=False, counts_when_made=True)
    elif key in READ_ONLY:
        yield NamedPath(_whole(value, top), is_folder=False, counts_when_made=False, is_run=False)
    else:
        for path in files_in(value, top):
            yield NamedPath(path, is_folder=False, counts_when_made=False)
        is_run = RUN.fullmatch(key) is not None or value.startswith("!")
        if is_run:
            yield from named_by_script(value.removeprefix("!"), top)
        for word in _words(value) if is_run else ():
            path = _whole(word, top)
            if "/" in word and not os.path.lexists(path):
                yield NamedPath(path, is_folder=False, counts_when_made=True)


def _hooks_folder(path: str, top: str) -> str:
    hooks = _whole(path, top)
    return os.path.dirname(hooks) if os.path.basename(hooks) == HUSKY else hooks


def _named_by_hooks(hooks: str, top: str) -> Iterator[NamedPath]:
    """The scripts in a checkout that hooks are or start, and what those start in turn."""
    from ralph.documents.gate_inputs import SCRIPTS, SHELL_SCRIPT

    for path in _hooks(hooks):
        if os.path.islink(path):
            real = os.path.realpath(path)
            yield NamedPath(real, is_folder=False, counts_when_made=True)
        with suppress(OSError):
            script = read_regular(path, most=LARGEST).decode("utf-8", "replace")
            if script.startswith("#!") and not SHELL_SCRIPT.match(script):
                script = "\n".join(f"./{name}" for name in SCRIPTS.findall(script))
            for folder in dict.fromkeys(("", os.path.relpath(hooks, top))):
                yield from named_by_script(script, top, folder)


def _hooks(folder: str) -> Iterator[str]:
    for name in names_in(folder):
        if not name.endswith(".sample"):
            yield os.path.join(folder, name)


def named_by_script(
    script: str, top: str, folder: str = "", *, is_followed: bool = True
) -> Iterator[NamedPath]:
    """The files in a checkout that shell text starts when it runs in one of its folders, and what
    those start in turn if that `is_followed`."""
    from ralph.documents.gate_inputs import FileRead, gate_inputs
    from ralph.documents.gate_settings import SETTINGS

    def look(path: str) -> FileRead | None:
        whole = os.path.realpath(os.path.join(top, path))
        if not is_followed:
            return None
        try:
            text = read_regular(whole, most=LARGEST).decode("utf-8", "replace")
        except OSError:
            return None
        return FileRead(os.path.relpath(whole, os.path.realpath(top)), text)

    found = gate_inputs(script, top, folder, look)
    for path in sorted(found.programs):
        whole = _whole(path, top)
        is_missing = not os.path.lexists(whole)
        if (is_missing or os.path.isfile(whole)) and not INSTALLED & {*path.split("/")}:
            yield NamedPath(whole, is_folder=False, counts_when_made=is_missing)
    for name in sorted(found.settings & {one for key in OF_HOOKS for one in SETTINGS[key].split()}):
        yield NamedPath(_whole(name, top), is_folder=False, counts_when_made=True)


def files_in(command: str, folder: str) -> Iterator[str]:
    yield from filter(os.path.isfile, (_whole(word, folder) for word in _words(command)))


def _words(value: str) -> list[str]:
    """Of a command line, as a shell would take it apart."""
    try:
        return shlex.split(value.removeprefix("!"))
    except ValueError:
        return value.split()


def _whole(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))
