"""What a session may do with git, by the setting `[policy] git`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from ralph.core.policy.decision import Deny, Doubt, Policy, PolicyContext, Verdict
from ralph.core.policy.programs import ProgramRun
from ralph.core.policy.words import UNKNOWN, CommandCall, Field, names, without_values
from ralph.core.settings import GitAccess

ANY: Final = "(?s:.*)"
WITH_VALUE: Final = names(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source"
    " --list-cmds"
)
RALPH_COMMITS: Final = "leave the changes in the checkout: Ralph commits what is accepted"
INSTEAD: Final = {
    **dict.fromkeys(("commit", "add"), RALPH_COMMITS),
    **dict.fromkeys(
        names("push pull fetch merge rebase cherry-pick am clone"),
        "commit here: what comes in and goes out is for Ralph and the person",
    ),
    **dict.fromkeys(names("checkout switch worktree branch"), "stay on this branch"),
    **dict.fromkeys(
        names("restore reset revert clean"),
        "change the files back yourself; `git show HEAD:FILE` prints what was committed",
    ),
    "stash": "keep the changes, or commit them",
    "tag": "tags are for releases, which a person makes",
    **dict.fromkeys(names("rm mv apply"), "change the files without git"),
    "config": "`git config --get NAME` looks a setting up",
}


class GitCall(NamedTuple):
    subcommand: str
    """Empty when there is none, as in `git --version`."""
    arguments: tuple[Field, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    """Given with `-c`."""
    is_clear: bool = True
    """False when the subcommand is known only as the shell runs."""

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.arguments]


def git_call(words: Sequence[Field]) -> GitCall:
    name = words[0].text.rpartition("/")[2].lower()
    if name.startswith("git-"):
        return GitCall(name[4:], tuple(words[1:]))
    settings: list[tuple[str, str]] = []
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        word = words[at]
        if word.text == "-c" and at + 1 < len(words):
            key, _, value = words[at + 1].text.partition("=")
            settings.append((key, value))
        at += 2 if word.text in WITH_VALUE else 1
    if at >= len(words):
        return GitCall("", (), tuple(settings))
    is_clear = words[at].known and not words[at].glob
    return GitCall(words[at].text, tuple(words[at + 1 :]), tuple(settings), is_clear)


def git_runs(name: str, words: Sequence[Field]) -> Iterator[ProgramRun]:
    """What git would run: its aliases, and commands in its arguments."""
    if name != "git" and not name.startswith("git-"):
        return
    call = git_call(words)
    for key, value in call.settings:
        is_alias = key.lower() == f"alias.{call.subcommand.lower()}"
        if is_alias and not value.startswith("!"):
            yield ProgramRun(words=(words[0], *map(Field, value.split()), *call.arguments))
        elif is_alias or " " in value:
            # A pager, an editor and the like.
            yield ProgramRun(text=Field(value.removeprefix("!")))
    if [call.subcommand, *call.texts[:1]] in (["bisect", "run"], ["submodule", "foreach"]):
        texts = [text for text in call.texts[1:] if text != "--recursive"]
        yield ProgramRun(text=Field(" ".join(texts)))
    for option, argument in pairwise(call.arguments):
        if option.text in ("-x", "--exec"):
            yield ProgramRun(text=argument)


def judge_git(call: CommandCall, policy: Policy, _context: PolicyContext) -> Iterator[Verdict]:
    is_part = call.name[4:] in INSTEAD or (call.words and "/git-core/" in call.words[0].text)
    if call.name != "git" and not (call.name.startswith("git-") and is_part):
        return
    git = git_call(call.words)
    if policy.git == "free":
        yield _judge_history(git)
    elif (wrong := _judge_use(git, policy.git)) or git.is_clear:
        yield wrong
    else:
        shown = " ".join(word.shown for word in call.words[:4])
        yield Doubt(reason=f"which git command runs is known only as the shell runs: `{shown}`")


def _judge_use(git: GitCall, mode: GitAccess) -> Deny | None:
    name = git.subcommand.replace(UNKNOWN, "")
    if (not git.is_clear and name not in INSTEAD) or git_only_reads(name, git.texts):
        return None
    if mode == "commit" and name == "commit":
        return _judge_commit(git)
    if mode == "commit" and _has_form(CHANGES_FILES, name, git.texts):
        return None
    allowed = "look" if mode == "read-only" else "look, add and commit"
    return Deny(
        reason=f"`git {name}` is not for sessions: here git may only {allowed}",
        suggestion=INSTEAD.get(name, ""),
    )


CHANGES_FILES: Final = {
    **dict.fromkeys(("add", "mv", "rm"), ANY),
    "apply": rf"(?!{ANY}\n--unsafe-paths){ANY}",
    "restore": rf"(?={ANY}\n(?:-q?S|--staged))(?:\n(?:-[Sq]+|--staged|--quiet|--|[^-\n].*))*",
}
"""With such arguments they change files and the index only, and lose nothing uncommitted."""
AMENDS: Final = re.compile("--am(?:e|en|end)?")
SKIPS_HOOKS: Final = re.compile(r"--no-ver.*|-[^-mFCctSu]*n.*", re.DOTALL)
COMMIT_VALUE: Final = re.compile(
    r"-[^-mFCct]*[mFCct]|--(?:message|file|reuse-message|reedit-message|template|author|date|fixup"
    r"|squash|trailer|cleanup)"
)
"""The next word is its value."""


def _judge_commit(git: GitCall) -> Deny | None:
    words = without_values(git.texts, COMMIT_VALUE)
    options = [*takewhile(lambda word: word != "--", words)]
    if any(map(AMENDS.fullmatch, options)):
        return Deny(
            reason="`git commit --amend` rewrites a commit that may be accepted already",
            suggestion="make another commit",
        )
    hooks = any(key.lower() == "core.hookspath" for key, _ in git.settings)
    if hooks or any(map(SKIPS_HOOKS.fullmatch, options)):
        return Deny(
            reason="this commit skips the project's own checks",
            suggestion="fix what the hooks complain about, then commit without --no-verify",
        )
    return None


LOSES_HISTORY: Final = {
    "push": r"-\w*[fd].*|--force.*|--mirror.*|--delete.*|--prune.*|\+\S.*|:\S.*",
    "filter-branch": "",
    "filter-repo": "",
    "prune": "",
    "reflog": "expire|delete|drop",
    "gc": "--prune=.*",
    "update-ref": "-d|--delete",
    "config": "--global|--system",
}
"""Subcommands, and the argument with which they lose history or settings; empty: any."""


def _judge_history(git: GitCall) -> Deny | None:
    """Even where git is free, published history stays as it is."""
    pattern = LOSES_HISTORY.get(git.subcommand)
    if pattern is None or git_only_reads(git.subcommand, git.texts):
        return None
    if pattern and not any(re.fullmatch(pattern, each) for each in git.texts):
        return None
    lost = "settings of the person" if git.subcommand == "config" else "history"
    return Deny(
        reason=f"this `git {git.subcommand}` destroys {lost}",
        suggestion="leave what is committed as it is, and add to it",
    )


# Commands that only read

READS: Final = names(
    "status diff log show blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list"
    " cat-file describe shortlog help version whatchanged cherry merge-base name-rev show-ref"
    " show-branch show-index for-each-ref diff-tree diff-index diff-files range-diff check-ignore"
    " check-attr check-mailmap check-ref-format count-objects fsck var verify-commit verify-tag"
    " verify-pack archive patch-id get-tar-commit-id stripspace column request-pull merge-tree"
    " format-patch diff-pairs fmt-merge-msg last-modified"
)
"""Whatever their arguments are."""
LISTS: Final = (
    r"(?:-[ailrvq]+|-n\d*|--(?:sort|format|color|abbrev|column)\n.*|--(?:list|all|remotes|verbose"
    r"|quiet|show-current|(?:no-)?contains|(?:no-)?merged|points-at|sort|format|(?:no-)?column"
    r"|(?:no-)?color|(?:no-)?abbrev|ignore-case|omit-empty|verify)(?:=.*)?)"
)
"""An option with which `git branch` and `git tag` list names."""
LOOKS_FOR: Final = r"--(?:list|(?:no-)?contains|(?:no-)?merged|points-at|verify)(?:=.*)?"
"""With one of these, a name is something to look for."""
LISTING: Final = (
    rf"(?:\n{LISTS})*|(?={ANY}\n(?:SIGN|{LOOKS_FOR})(?:\n|\Z))(?:\n(?:{LISTS}|[^-\n].*))*"
)
PLACES: Final = (
    r"(?:\n(?:--(?:global|local|system|worktree|show-origin|show-scope|name-only|null|includes"
    r"|no-includes|(?:file|blob|type|default)=.*|bool|int|path)|-z))*"
)
GETS: Final = r"(?:--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l|get|list)"
READS_WITH: Final = {
    "apply": rf"(?!{ANY}\n--apply){ANY}\n--(?:check|stat|numstat|summary){ANY}",
    "bisect": rf"\n(?:log|view|visualize|terms){ANY}",
    "branch": LISTING.replace("SIGN", "-l"),
    "bundle": rf"\n(?:verify|list-heads){ANY}",
    "clean": rf"{ANY}\n(?:-[a-z]*n[a-z]*|--dry-run){ANY}",
    "config": rf"{PLACES}\n(?:{GETS}{ANY}|[^-\n]*\..*{PLACES})",
    "hash-object": rf"(?!{ANY}\n-w){ANY}",
    "interpret-trailers": rf"(?!{ANY}\n--in-place){ANY}",
    "lfs": rf"\n(?:ls-files|status|env|version|logs|locks){ANY}",
    "notes": rf"(?:\n(?:list|show){ANY})?",
    "reflog": rf"(?:\n(?!(?:expire|delete|drop|write)\b){ANY})?",
    "remote": rf"(?:\n(?:show|get-url){ANY})?",
    "sparse-checkout": rf"\nlist{ANY}",
    "stash": rf"\n(?:list|show){ANY}",
    "submodule": rf"(?:\n(?:status|summary){ANY})?",
    "symbolic-ref": r"(?:\n(?:-q|--quiet|--short|--(?:no-)?recurse))*\n[^-\n].*",
    # `git branch -v x` makes a branch, whereas `git tag -v x` makes nothing.
    "tag": LISTING.replace("SIGN", r"-l|-v|-n\d*"),
    "worktree": rf"\nlist{ANY}",
}
"""They only read with such arguments, each of which begins with an end of line."""


def git_only_reads(subcommand: str, arguments: Sequence[str]) -> bool:
    """Whether the command changes nothing in the repository."""
    if subcommand in READS or not subcommand or (set(arguments) <= {"-h", "--help"} and arguments):
        return True
    ignored = () if subcommand == "tag" else ("-v", "--verbose", "-q", "--quiet")
    return _has_form(READS_WITH, subcommand, [word for word in arguments if word not in ignored])


def _has_form(forms: Mapping[str, str], subcommand: str, arguments: Sequence[str]) -> bool:
    text = "".join(f"\n{word}" for word in arguments)
    return subcommand in forms and re.fullmatch(forms[subcommand], text) is not None
