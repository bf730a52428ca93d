"""A shell that only looks, for agents that read files through one in phases without a shell."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from ralph.core.policy.decision import Deny
from ralph.core.policy.filters import awk_looks, sed_looks
from ralph.core.policy.git_reads import only_looks
from ralph.core.policy.git_words import git_call
from ralph.core.policy.shells import SHELLS
from ralph.core.policy.walking import Call
from ralph.core.policy.written_files import REDIRECTS

READERS: Final = frozenset(
    {"cat", "ls", "head", "tail", "grep", "egrep", "fgrep", "ag", "ack", "wc", "cut"}
    | {"tr", "nl", "stat", "file", "pwd", "echo", "printf", "test", "[", "true", "false"}
    | {":", "which", "type", "jq", "diff", "cmp", "comm", "join", "paste", "basename", "dirname"}
    | {"realpath", "readlink", "printenv", "id", "whoami", "uname", "du", "df"}
    | {"ps", "od", "hexdump", "strings", "md5sum", "sha1sum", "sha256sum", "cksum", "column"}
    | {"more", "bat", "batcat", "cd", "pushd", "popd", "read", "set", "export", "local"}
    | {"declare", "shift", "return", "exit", "break", "continue", "seq", "expr", "let", "nproc"}
    | {"tac", "rev", "fold", "fmt", "expand", "zcat", "zgrep", "sleep", "wait", "shopt", "unset"}
    | {"ralph", "eza", "exa", "lsof", "getconf", "locale", "tput", "clear", "sum", "mapfile"}
)
NOT_WITH: Final[dict[str, str]] = {
    "sort": r"-\w*o.*|--output.*",
    "rg": r"--pre(?:=.*)?|--hostname-bin.*",
    "tree": r"-\w*o\w*",
    "date": r"-\w*s.*|--set.*|[\d.]+",
    "hostname": r"[^-].*|-F.*|-b",
    "man": r"-\w*[PH].*|--pager.*|--html.*",
    "less": r"-\w*[oO].*|--log-file.*|\+.*",
    "xxd": r"-r|-revert",
    "yq": r"-\w*i\w*|--inplace|--in-place",
    "fd": r"-x|-X|--exec.*",
    "find": r"-delete|-fprint.*|-fls",
    "uniq": "--nothing",
}
"""These only look, unless one of their words is like that."""
OPERANDS: Final = {
    "uniq": frozenset({"-f", "-s", "-w"}),
    "xxd": frozenset({"-l", "-len", "-s", "-seek", "-c", "-cols", "-g", "-o", "-n", "-R"}),
}
"""These write to the second file that they are given; options that take a value."""
PROGRAMS: Final[dict[str, Callable[[Sequence[str]], bool]]] = {
    "sed": sed_looks,
    **dict.fromkeys(("awk", "mawk", "nawk"), awk_looks),
}
VERSION: Final = re.compile(r"--version|--help|-V")
VERSIONS: Final = {
    **dict.fromkeys(("node", "npm", "npx", "pnpm", "yarn", "bun"), "-v"),
    **dict.fromkeys(("go", "helm", "terraform"), "version"),
}
"""How else they are asked for it."""
ONLY_WITH: Final[dict[str, str]] = {
    "tar": r"-?t[a-zA-Z]*|--list",
    "unzip": r"-[lpZ]\w*",
    **dict.fromkeys(SHELLS, r"-\w*c"),
}
"""These only look, or run what is looked at by itself, if their first word is like that."""
PASS_ON: Final = frozenset(
    {"env", "command", "builtin", "time", "timeout", "nice", "nohup", "stdbuf", "xargs", "eval"}
)
"""What they run is looked at by itself."""
NOWHERE: Final = re.compile(r"/dev/(?:null|std(?:out|err)|tty|fd/\d+)|\d+-?|-")
"""Also a number, behind `>&`; a file of that name is nobody's."""
FILES: Final = re.compile(r"--output.*|-o.*|--lost-found")
SUGGESTION: Final = "read with `cat`, `sed -n`, `rg`, `ls`, `git log` and the like"


def judge_reading(call: Call) -> Deny | None:
    """Why the command is more than looking, if it is."""
    for operator, field in call.redirects:
        if operator in REDIRECTS and not NOWHERE.fullmatch(field.text):
            return _deny(f"`{operator} {field.shown}` writes a file")
    if not call.words or call.name in READERS or not call.is_sure:
        return None
    if call.name == "git":
        git = git_call(call.words)
        texts = [word.text for word in git.arguments]
        writes = any(FILES.fullmatch(text) for text in texts) or (
            git.subcommand == "format-patch" and "--stdout" not in texts
        )
        if only_looks(git.subcommand, texts) and git.is_clear and not writes:
            return None
        return _deny(f"`git {git.subcommand}` may change something")
    words = [word.text for word in call.words[1:]]
    if call.name in PASS_ON or _asks_version(call, words):
        return None
    program = PROGRAMS.get(call.name)
    if program is not None and program(words):
        return None
    first = ONLY_WITH.get(call.name)
    if first is not None and words and re.fullmatch(first, words[0]):
        return None
    unless = NOT_WITH.get(call.name)
    if unless is not None and not any(re.fullmatch(unless, word) for word in words):
        values = OPERANDS.get(call.name)
        if values is None or _operands(words, values) <= 1:
            return None
    return _deny(f"`{call.name}` may change something")


def _operands(words: Sequence[str], values: frozenset[str]) -> int:
    """How many words are neither options nor their values."""
    return sum(
        not word.startswith("-") and before not in values for before, word in pairwise(["", *words])
    )


def _asks_version(call: Call, words: Sequence[str]) -> bool:
    """Of a program that lies where programs lie."""
    if len(words) != 1 or "/" in call.words[0].text:
        return False
    return VERSION.fullmatch(words[0]) is not None or VERSIONS.get(call.name) == words[0]


def _deny(what: str) -> Deny:
    return Deny(reason=f"{what}, and this phase only looks", suggestion=SUGGESTION)
