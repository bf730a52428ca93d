"""The branch that a run is to work on, checked out before it begins."""

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.objects import Objects
from ralph.core.errors import BadConfig, RalphError
from ralph.core.safe_text import one_line


def go_to_branch(git: Git, branch: str) -> str:
    """Be on it: the one that is there, else a new one. Return what that changed, in a line."""
    name = one_line(branch)
    if git.ask(
        "check-ref-format", f"refs/heads/{branch}", ok=(0, 1)
    ).code != 0 or branch.startswith("-"):
        raise BadConfig(
            f"no branch can be called {name!r}",
            hint="--branch NAME, or [git] branch in .ralph.toml",
        )
    before = Objects(git).branch_ref().removeprefix("refs/heads/")
    if before == branch:
        return ""
    is_there = bool(Objects(git).read_ref(f"refs/heads/{branch}"))
    try:
        git.run("switch", "-q", *(() if is_there else ("-c",)), branch, once=True)
    except RalphError as error:
        raise type(error)(
            f"cannot go to branch {name}: {error}",
            hint=error.hint or "commit or stash what is in the way, or go there yourself",
        ) from error
    made = "" if is_there else "new "
    return (
        f"your checkout is on the {made}branch {name} now; it was on {one_line(before) or 'none'}"
    )
