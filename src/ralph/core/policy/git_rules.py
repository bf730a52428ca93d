"""What a session may do with git, by the setting `[policy] git`."""

import re
from collections.abc import Sequence
from typing import Final

from ralph.core.policy.decision import Deny, Doubt, Git
from ralph.core.policy.git_reads import only_looks
from ralph.core.policy.git_words import GitCall, git_call
from ralph.core.policy.known import UNKNOWN
from ralph.core.policy.walking import Call

COMMIT_VALUES: Final = frozenset(
    {"-m", "-F", "-C", "-c", "-t", "--message", "--file", "--reuse-message", "--reedit-message"}
    | {"--template", "--author", "--date", "--fixup", "--squash", "--trailer", "--cleanup"}
)
COMMIT_LETTERS: Final = "mFCctSu"
"""What follows one of these in the same word is its value."""

RALPH_COMMITS: Final = "leave the changes in the checkout: Ralph commits what is accepted"
INSTEAD: Final = {
    **dict.fromkeys(("commit", "add"), RALPH_COMMITS),
    **dict.fromkeys(
        ("push", "pull", "fetch", "merge", "rebase", "cherry-pick", "am", "clone"),
        "commit here: what comes in and goes out is for Ralph and the person",
    ),
    **dict.fromkeys(("checkout", "switch", "worktree", "branch"), "stay on this branch"),
    **dict.fromkeys(
        ("restore", "reset", "revert", "clean"),
        "change the files back yourself; `git show HEAD:FILE` prints what was committed",
    ),
    "stash": "keep the changes, or commit them",
    "tag": "tags are for releases, which a person makes",
    **dict.fromkeys(("rm", "mv", "apply"), "change the files without git"),
    "config": "`git config --get NAME` looks a setting up",
}


PLUMBING: Final = frozenset(
    {"update-ref", "update-index", "commit-tree", "symbolic-ref", "filter-branch", "gc", "prune"}
    | {"repack", "reflog", "replace", "read-tree", "write-tree", "mktree", "fast-import", "notes"}
    | {"hash-object", "checkout-index", "pack-refs", "send-pack", "submodule", "remote", "init"}
)
"""More of git's own commands that exist as programs, too."""


def judge_git(call: Call, mode: Git) -> Deny | Doubt | None:
    """What is wrong with a git command, if anything."""
    if call.name != "git" and not call.name.startswith("git-"):
        return None
    if call.name.startswith("git-") and not _is_part_of_git(call):
        # A program of its own that only sounds like git.
        return None
    git = git_call(call.words)
    if mode is Git.FREE:
        return _rewriting(git)
    wrong = _unfree(git, mode)
    if wrong is None and not git.is_clear:
        shown = " ".join(word.shown for word in call.words[:4])
        return Doubt(reason=f"which git command runs is known only as the shell runs: `{shown}`")
    return wrong


def _is_part_of_git(call: Call) -> bool:
    return "/git-core/" in call.words[0].text or call.name[4:] in {*INSTEAD, *PLUMBING}


def _unfree(git: GitCall, mode: Git) -> Deny | None:
    name = git.subcommand.replace(UNKNOWN, "")
    arguments = [word.text for word in git.arguments]
    if not git.is_clear and name not in INSTEAD:
        return None
    if only_looks(name, arguments):
        return None
    if mode is Git.COMMIT and _is_work(name, arguments):
        return None
    if mode is Git.COMMIT and name == "commit":
        return _commit(git, arguments)
    allowed = "look" if mode is Git.READ_ONLY else "look, add and commit"
    return Deny(
        reason=f"`git {name}` is not for sessions: here git may only {allowed}",
        suggestion=INSTEAD.get(name, ""),
    )


def _is_work(name: str, arguments: Sequence[str]) -> bool:
    """Whether it changes files and the index only, and loses nothing that is not committed."""
    if name == "restore":
        options = [word for word in arguments if word.startswith("-")]
        return bool(options) and all(
            re.fullmatch("-[Sq]+|--staged|--quiet|--", each) for each in options
        )
    return name in ("add", "mv", "rm") or (name == "apply" and "--unsafe-paths" not in arguments)


def _commit(git: GitCall, arguments: Sequence[str]) -> Deny | None:
    options, letters = _options(arguments)
    if any(re.fullmatch("--am(?:e|en|end)?", option) for option in options):
        return Deny(
            reason="`git commit --amend` rewrites a commit that may be accepted already",
            suggestion="make another commit",
        )
    hooks = any(key.lower() == "core.hookspath" for key, _ in git.settings)
    if hooks or "n" in letters or any(option.startswith("--no-ver") for option in options):
        return Deny(
            reason="this commit skips the project's own checks",
            suggestion="mend what the hooks complain about, then commit without --no-verify",
        )
    return None


def _options(arguments: Sequence[str]) -> tuple[list[str], set[str]]:
    """The long options of a commit, and its one-letter ones; messages are neither."""
    options: list[str] = []
    letters: set[str] = set()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            options.append(word)
            if word in COMMIT_VALUES and rest:
                rest.pop(0)
        elif word.startswith("-"):
            for place, letter in enumerate(word[1:], 2):
                if letter in COMMIT_LETTERS:
                    if place == len(word) and letter not in "Su" and rest:
                        rest.pop(0)
                    break
                letters.add(letter)
    return options, letters


def _rewriting(git: GitCall) -> Deny | None:
    """Even where git is free, what others build on stays as it is."""
    arguments = [word.text for word in git.arguments]
    match git.subcommand:
        case "push":
            forced = any(
                re.match(r"-\w*[fd]|--force|--mirror|--delete|--prune|\+\S|:\S", word)
                for word in arguments
            )
        case "filter-branch" | "filter-repo" | "prune":
            forced = True
        case "reflog":
            forced = bool(arguments) and arguments[0] in ("expire", "delete", "drop")
        case "gc":
            forced = any(word.startswith("--prune=") for word in arguments)
        case "update-ref":
            forced = bool({"-d", "--delete"} & set(arguments))
        case _:
            forced = False
    if not forced:
        return None
    return Deny(
        reason=f"this `git {git.subcommand}` destroys history",
        suggestion="leave what is committed as it is, and add to it",
    )
