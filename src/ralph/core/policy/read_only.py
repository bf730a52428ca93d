"""A shell that only looks, for agents that read files through one in phases without a shell."""

import re
from typing import Final

from ralph.core.policy.decision import Deny
from ralph.core.policy.git_reads import only_looks
from ralph.core.policy.git_words import git_call
from ralph.core.policy.shells import SHELLS
from ralph.core.policy.walking import Call

READERS: Final = frozenset(
    {"cat", "ls", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "ack", "wc", "uniq", "cut"}
    | {"tr", "nl", "tree", "stat", "file", "pwd", "echo", "printf", "test", "[", "true", "false"}
    | {":", "which", "type", "jq", "diff", "cmp", "comm", "join", "paste", "basename", "dirname"}
    | {"realpath", "readlink", "date", "printenv", "id", "whoami", "uname", "hostname", "du", "df"}
    | {"ps", "xxd", "od", "hexdump", "strings", "md5sum", "sha1sum", "sha256sum", "cksum", "column"}
    | {"less", "more", "bat", "batcat", "cd", "pushd", "popd", "read", "set", "export", "local"}
    | {"declare", "shift", "return", "exit", "break", "continue", "seq", "expr", "let", "nproc"}
    | {"tac", "rev", "fold", "fmt", "expand", "zcat", "zgrep", "sleep", "wait", "shopt", "unset"}
    | {"ralph", "eza", "exa", "lsof", "getconf", "locale", "tput", "clear", "man", "sum", "mapfile"}
)
NOT_WITH: Final[dict[str, str]] = {
    "sort": r"-\w*o.*|--output.*",
    "sed": r"-[a-zA-Z]*i.*|--in-place.*|-[a-zA-Z]*s?[wW]|.*(?:^|[;{\s/])[wWe]\s.*",
    "awk": r"(?s:.*(?:system\s*\(|>|\|\s*\"|-i).*)",
    "yq": r"-\w*i\w*|--inplace|--in-place",
    "fd": r"-x|-X|--exec.*",
    "find": r"-delete|-fprint.*|-fls",
}
"""These only look, unless one of their words is like that."""
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
WRITES: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
NOWHERE: Final = re.compile(r"/dev/(?:null|std(?:out|err)|tty|fd/\d+)")
SUGGESTION: Final = "read with `cat`, `sed -n`, `rg`, `ls`, `git log` and the like"


def judge_reading(call: Call) -> Deny | None:
    """Why the command is more than looking, if it is."""
    for operator, field in call.redirects:
        if operator in WRITES and not NOWHERE.fullmatch(field.text):
            return _deny(f"`{operator} {field.shown}` writes a file")
    if not call.words or call.name in READERS or not call.is_sure:
        return None
    if call.name == "git":
        git = git_call(call.words)
        texts = [word.text for word in git.arguments]
        writes = any(text.startswith("--output") for text in texts)
        if only_looks(git.subcommand, texts) and git.is_clear and not writes:
            return None
        return _deny(f"`git {git.subcommand}` may change something")
    words = [word.text for word in call.words[1:]]
    if call.name in PASS_ON and words:
        return None
    first = ONLY_WITH.get(call.name)
    if first is not None and words and re.fullmatch(first, words[0]):
        return None
    unless = NOT_WITH.get(call.name)
    if unless is not None and not any(re.fullmatch(unless, word) for word in words):
        return None
    return _deny(f"`{call.name}` may change something")


def _deny(what: str) -> Deny:
    return Deny(reason=f"{what}, and this phase only looks", suggestion=SUGGESTION)
