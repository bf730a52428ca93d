"""Making a clone that borrows the source's objects.

It is what `git clone --shared` makes, less what would be in the way: no remote to push to by
accident, and no branches that look like the source's and are not. Made by hand, it costs two
processes, however many refs the source has.
"""

import os
import shutil
from contextlib import suppress
from typing import Final

from ralph.adapters.workspace.git import Git, text
from ralph.core.errors import CannotWrite
from ralph.files import create_regular, write_regular

CARRIED: Final = (
    r"^((user|author|committer)\.(name|email)|core\.(autocrlf|eol)|filter\..*|lfs\..*)$"
)
"""Settings of the source alone that decide what a commit there looks like."""


def make_clone(source: Git, top: str, commit: str, branch: str) -> Git:
    """Make it in an empty or absent folder, with the commit checked out on the branch."""
    form, common = source.word("rev-parse", "--show-object-format", "--git-common-dir").split("\n")
    common = os.path.realpath(os.path.join(source.top, common))
    source.run("init", "-q", "--template=", f"--object-format={form}", top)
    try:
        _borrow(common, os.path.join(top, ".git"))
        _settle_in(source, common, os.path.join(top, ".git"))
    except OSError as error:
        raise CannotWrite(f"cannot write in {top}: {error.strerror}") from error
    clone = source.at(top)
    # In a way that can be repeated.
    clone.run("checkout", "-q", "-f", "-B", branch, commit)
    return clone


def _borrow(common: str, git_dir: str) -> None:
    folder = os.path.join(git_dir, "objects", "info")
    os.makedirs(folder, exist_ok=True)
    objects = os.fsencode(_quoted_path(os.path.join(common, "objects")))
    write_regular(os.path.join(folder, "alternates"), objects + b"\n")
    with suppress(FileNotFoundError):
        # Where the source's own history ends, that of the clone does.
        shutil.copyfile(os.path.join(common, "shallow"), os.path.join(git_dir, "shallow"))


def _quoted_path(path: str) -> str:
    """As git reads it there: a line that begins with a quote is quoted as in C."""
    if "\n" not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _settle_in(source: Git, common: str, git_dir: str) -> None:
    """Carry over what the source alone is told: settings, and what it ignores besides its
    .gitignore files."""
    settings = _carried(source)
    more = "".join(_setting(key, value) for key, value in settings)
    with create_regular(os.path.join(git_dir, "config"), os.O_APPEND) as file:
        file.write(more.encode("utf-8", "surrogateescape"))
    info = os.path.join(git_dir, "info")
    os.makedirs(info, exist_ok=True)
    for name in ("exclude", "attributes"):
        with suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(common, "info", name), os.path.join(info, name))
    # Lessons that two have written down at the same time are both kept.
    with create_regular(os.path.join(info, "attributes"), os.O_APPEND) as file:
        file.write(b"\n**/.ralph/guardrails.md merge=union\n")


def _carried(source: Git) -> list[tuple[str, str]]:
    """Settings of the source's own configuration, and an identity."""
    got = source.ask("config", "--local", "-z", "--get-regexp", CARRIED, ok=(0, 1))
    pairs = [line.partition("\n") for line in text(got.stdout).split("\0") if line]
    settings = [(key, value) for key, _, value in pairs]
    if source.ask("var", "GIT_AUTHOR_IDENT", ok=(0, 128)).code != 0:
        # Without one the agent's own commits would fail.
        settings += [("user.name", "Ralph"), ("user.email", "ralph@localhost")]
    return settings


def _setting(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    head = f'{section} "{_escaped(middle)}"' if middle else section
    written = _escaped(value).replace("\n", "\\n").replace("\t", "\\t")
    return f'[{head}]\n\t{name} = "{written}"\n'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
