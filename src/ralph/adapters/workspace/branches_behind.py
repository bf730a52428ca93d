"""Which branches of a person's are behind what a team has built on them, and how to catch up."""

from shlex import quote
from typing import Final

from ralph.adapters.workspace.git import Git, text
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.core.safe_text import one_line
from ralph.ports.merge_branch import BranchBehind

TIP: Final = "refs/ralph/tip/"
FOLLOWED: Final = "refs/ralph/followed/"
HEADS: Final = "refs/heads/"


def branches_behind(git: Git) -> list[BranchBehind]:
    """Those that a person has not taken back. Takes no lock and changes nothing."""
    tips = _refs(git, TIP)
    if not tips:
        return []
    followed = _refs(git, *(FOLLOWED + branch for branch in tips))
    heads = _refs(git, *(HEADS + branch for branch in tips))
    objects = GitObjects(git)
    found = []
    for branch, tip in tips.items():
        head = heads.get(branch, "")
        # What they have had and no longer have, they have taken back.
        if tip in (head, followed.get(branch)) or (head and objects.contains(head, tip)):
            continue
        ref, name = quote(TIP + branch), quote(branch)
        if not head:
            command = f"git branch {name} {ref}"
        else:
            how = "--ff-only " if objects.contains(tip, head) else ""
            is_elsewhere = objects.branch_ref() != HEADS + branch
            command = f"git switch {name} && " if is_elsewhere else ""
            command += f"git merge {how}{ref}"
        found.append(BranchBehind(branch=branch, command=one_line(command, 200)))
    return found


def _refs(git: Git, *names: str) -> dict[str, str]:
    """The commits by the names of their branches."""
    args = ("for-each-ref", "--format=%(objectname) %(refname)", *names)
    lines = text(git.ask(*args).stdout).splitlines()
    pairs = (line.split(" ", 1) for line in lines)
    prefix = next(one for one in (TIP, FOLLOWED, HEADS) if names[0].startswith(one))
    return {name.removeprefix(prefix): commit for commit, name in pairs}
