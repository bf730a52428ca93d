"""Which commits are gone or broken, and which no branch has any more."""

from collections.abc import Sequence

from ralph.adapters.workspace.git import ANY, UNREAD, Git, raw, text
from ralph.ports.workspace import Lost

GITLINK = "160000"


def lost_commits(git: Git, commits: Sequence[str]) -> Lost:
    """Look at each commit and at the objects that it added to those of its parents. The cost does
    not grow with the history: three processes, unless something is broken."""
    if not commits:
        return Lost()
    added = _added(git, commits)
    wanted = [*commits, *(one for objects in added.values() for one in objects)]
    there = _present(git, wanted)
    broken = {
        commit for commit in commits if commit not in there or not added.get(commit, set()) <= there
    }
    whole = [commit for commit in commits if commit not in broken]
    return Lost(
        broken=tuple(commit for commit in commits if commit in broken),
        unreachable=_unreachable(git, whole),
    )


def _added(git: Git, commits: Sequence[str]) -> dict[str, set[str]]:
    """The objects of each commit that its parents do not have."""
    args = ("diff-tree", "--stdin", "-r", "-t", "-m", "--root", "--raw", "--no-renames")
    got = git.ask(*args, UNREAD, stdin=_lines(commits), ok=ANY)
    if got.code != 0 and len(commits) > 1:
        # One of them, or a parent, cannot be read: one by one, the others can.
        return {name: found for one in commits for name, found in _added(git, [one]).items()}
    if got.code != 0:
        is_read = git.ask("ls-tree", "-r", "-t", "-z", commits[0], ok=ANY).code == 0
        # Where its own trees can be read, it is a parent that cannot.
        return {commits[0]: set() if is_read else {""}}
    added: dict[str, set[str]] = {}
    objects: set[str] = set()
    for line in text(got.stdout).splitlines():
        if not line.startswith(":"):
            objects = added.setdefault(line.partition(" ")[0], set())
            continue
        _, mode, _, new, _ = line.removeprefix(":").split(maxsplit=4)
        if mode != GITLINK and new.strip("0"):
            objects.add(new)
    return added


def _present(git: Git, names: Sequence[str]) -> set[str]:
    """Those whose beginning can be read."""
    lines = _lines(dict.fromkeys(filter(None, names)))
    got = git.ask("cat-file", "--batch-check", stdin=lines, ok=ANY)
    if got.code != 0:
        # One is so broken that git gives up: the others are asked for one by one.
        return {one for one in names if one and git.ask("cat-file", "-s", one, ok=ANY).code == 0}
    answers = (line.split(" ") for line in text(got.stdout).splitlines())
    return {words[0] for words in answers if words[-1] != "missing"}


def _unreachable(git: Git, commits: Sequence[str]) -> tuple[str, ...]:
    if not commits:
        return ()
    got = git.ask("rev-list", *commits, "--not", "--all", ok=ANY)
    if got.code != 0:
        return ()  # a ref leads nowhere: git says so to whoever uses it
    found = set(text(got.stdout).splitlines())
    return tuple(commit for commit in commits if commit in found)


def _lines(names: Sequence[str] | dict[str, None]) -> bytes:
    return raw("".join(f"{name}\n" for name in names))
