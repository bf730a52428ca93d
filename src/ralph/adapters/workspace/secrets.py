"""Which files of a coming commit look like secrets."""

from collections.abc import Sequence
from typing import Final

from ralph.adapters.workspace.git import UNREAD, Git, text
from ralph.adapters.workspace.objects import Difference
from ralph.adapters.workspace.status import Entry
from ralph.core.secret_files import SIGNS, secret_in, suspicious_name
from ralph.ports.workspace import Withheld

LARGEST: Final = 16 * 1024 * 1024
"""A larger file is not read to make sure: git has seen the sign of a key in it."""

FILES: Final = ("100644", "100755")


def likely_secrets(
    git: Git, chosen: Sequence[Difference], old: str, new: str
) -> tuple[Withheld, ...]:
    """Look closer at those with a name for secrets, and at those where git finds a sign of one."""
    files = [one for one in chosen if one.new.mode in FILES]
    if not files:
        return ()
    # One process for all of them, which looks at changed lines alone.
    args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--text", "--no-textconv")
    signed = set(text(git.run(*args, UNREAD, f"-G{SIGNS}", old, new)).split("\0"))
    suspects = [one for one in files if one.path in signed or suspicious_name(one.path)]
    found = ((one.path, _why(git, one)) for one in suspects)
    return tuple(Withheld(path=path, why=why) for path, why in found if why is not None)


def _why(git: Git, one: Difference) -> str | None:
    if int(git.word("cat-file", "-s", one.new.oid)) > LARGEST:
        return "it is large, and something in it looks like a key"
    before = _content(git, one.old) if one.old.mode in FILES else None
    return secret_in(one.path, _content(git, one.new), before)


def _content(git: Git, entry: Entry) -> bytes:
    return git.run("cat-file", "blob", entry.oid)
