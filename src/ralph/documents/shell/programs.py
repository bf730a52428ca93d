"""What is known of programs: which always succeed, and which run another command."""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Final

SUCCEEDS: Final = frozenset(
    {"true", ":", "echo", "printf", "sleep", "date", "pwd", "umask", "alias", "times", "jobs"}
    | {"hash", "clear", "uname", "whoami", "id", "hostname", "sync", "touch"}
)
"""Nothing about the work can make these fail, unless they are asked to look at something."""

ASKED: Final[dict[str, re.Pattern[str]]] = {
    "hash": re.compile("[^-]"),
    "id": re.compile("[^-]"),
    "alias": re.compile("[^=]*"),
    "jobs": re.compile("[^-]"),
    "date": re.compile("-d|--date|-f|--file|-r|--reference"),
    "printf": re.compile(".*%[^a-zA-Z%]*[diouxXfFeEgG]", re.DOTALL),
}
"""Arguments with which they may fail after all. Where they are matched as a whole is up to each."""

FILTERS: Final[dict[str, str]] = {
    "awk": r".*exit\s*[^\s;}0]|-f|--file",
    "sed": r".*[qQ]\s*[1-9]|-\w*f|--file",
    "sort": "-[a-zA-Z]*[cC]|--check",
    "base64": "-[a-zA-Z]*[dD]|--dec",
    "gzip": "-[a-zA-Z]*[dtl]|--(dec|unc|test|list)",
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum"), "-[a-zA-Z]*c|--check"),
    **dict.fromkeys(("tee", "cat", "tail", "head", "uniq", "wc", "tr", "cut", "nl"), r"\Z."),
    **dict.fromkeys(("fold", "fmt", "column", "tac", "rev", "ts", "less", "more", "pr"), r"\Z."),
    **dict.fromkeys(("expand", "unexpand"), r"\Z."),
}
"""These succeed at the end of a pipe, unless an argument looks like this."""
NO_FILES: Final = frozenset({"tee", "tr", "ts", "pr", "fmt", "column", "less", "more"})
"""Their arguments are no files that are read, or hardly ever."""
SCRIPTED: Final = frozenset({"awk", "sed"})
"""Their first argument is no file."""
VALUES: Final[dict[str, str]] = {
    "tail": "nc",
    "head": "nc",
    "sort": "ktoST",
    "cut": "dfcb",
    "uniq": "fsw",
    "fold": "w",
    "base64": "w",
    "nl": "bdfhilnsvw",
    "expand": "t",
    "awk": "Fv",
    "sed": "el",
    # Programs that run another command.
    "timeout": "ks",
    "nice": "n",
    "ionice": "cnpPu",
    "env": "uC",
    "sudo": "ugpCDRTrtUh",
    "doas": "uC",
    "stdbuf": "ioe",
    "time": "fo",
    "exec": "a",
}
"""Letters of options that are followed by a value."""
LONG_VALUES: Final = frozenset(
    {"--signal", "--kill-after", "--adjustment", "--unset", "--chdir", "--user", "--group"}
    | {"--input", "--output", "--error", "--format", "--class", "--lines", "--bytes", "--width"}
)

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
WRAPPERS: Final = frozenset(
    {"env", "nohup", "nice", "time", "timeout", "sudo", "doas", "stdbuf", "setsid", "ionice"}
    | {"chronic", "busybox"}
)
"""These end with the status of the command in their arguments."""
SYSTEM_FOLDERS: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/")

Arguments = Sequence[str | None]


def always_succeeds(name: str, arguments: Arguments, *, piped: bool) -> bool:
    """Whether it ends with success whatever the work is like."""
    if name in SUCCEEDS:
        return not _is_asked(name, arguments)
    if name in CAREFREE:
        return CAREFREE[name](arguments)
    if not piped or name not in FILTERS:
        return False
    unlike = re.compile(FILTERS[name], re.DOTALL)
    if any(given is not None and unlike.match(given) for given in arguments):
        return False
    if name in SCRIPTED and None in arguments:
        return False
    operands = operands_of(name, arguments)
    if name in SCRIPTED and "-e" not in arguments:
        operands = operands[1:]
    return name in NO_FILES or all(given == "-" for given in operands)


def leaves_it(name: str, arguments: Arguments) -> bool:
    """`setsid -f` ends before what it has started."""
    return name == "setsid" and _has(arguments[:1], "f", "--fork")


def operands_of(name: str, arguments: Arguments) -> Arguments:
    """The arguments behind the options."""
    valued = VALUES.get(name, "")
    found: list[str | None] = []
    waiting = list(arguments)
    while waiting:
        given = waiting.pop(0)
        if given == "--":
            return [*found, *waiting]
        if given is None or given == "-" or given[:1] not in ("-", "+"):
            found.append(given)
        elif takes_value(given, valued) and waiting:
            waiting.pop(0)
    return found


def takes_value(option: str, letters: str) -> bool:
    """Whether the next argument belongs to the option."""
    if option.startswith("--"):
        return option in LONG_VALUES
    return len(option) > 1 and option[-1] in letters and not set(option[1:-1]) & set(letters)


def _has(arguments: Arguments, letter: str, long: str) -> bool:
    """Whether an option is among them."""
    return any(
        given == long or (given[:1] == "-" and given[:2] != "--" and letter in given)
        for given in arguments
        if given is not None
    )


def _finds(arguments: Arguments) -> bool:
    """`find . -exec check {} ;` has no word for what the check says; with `+` it has."""
    places = list(itertools.takewhile(lambda given: given and given[0] not in "-(!", arguments))
    return set(places) <= {".", "./"} and "+" not in arguments and None not in arguments


def _shows(arguments: Arguments) -> bool:
    """`git diff` succeeds, whatever there is to show."""
    match arguments:
        case ["status", *_]:
            return True
        case ["diff", *rest]:
            options = list(itertools.takewhile(lambda given: given != "--", rest))
            return all(given is not None and given[:1] == "-" for given in options) and (
                TELLING.isdisjoint(options)
            )
        case _:
            return False


CAREFREE: Final[dict[str, Callable[[Arguments], bool]]] = {
    "rm": lambda arguments: _has(arguments, "f", "--force"),
    "mkdir": lambda arguments: _has(arguments, "p", "--parents"),
    "ls": lambda arguments: not operands_of("ls", arguments),
    "find": _finds,
    "git": _shows,
}
"""These succeed too, with some arguments."""
TELLING: Final = frozenset({"--exit-code", "--quiet", "--check", "--no-index"})
"""With one of these the status of `git diff` says something."""


def _is_asked(name: str, arguments: Arguments) -> bool:
    asked = ASKED.get(name)
    if asked is None:
        return False
    if name in ("date", "printf"):
        changes = None in arguments
        return changes and any(given and asked.match(given) for given in arguments)
    match_ = asked.fullmatch if name == "alias" else asked.match
    return any(given is None or match_(given) is not None for given in arguments)
