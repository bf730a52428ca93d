"""A shell that only reads, for phases in which a session may change nothing."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from ralph.core.policy.decision import Deny, Verdict
from ralph.core.policy.file_rules import WRITE_REDIRECTS
from ralph.core.policy.git_rules import git_call, git_only_reads
from ralph.core.policy.programs import SHELLS
from ralph.core.policy.words import CommandCall, names, option_values, split_options, without_values

READERS: Final = names(
    "cat ls head tail grep egrep fgrep ag ack wc cut tr nl stat file pwd echo printf test [ true"
    " false : which type jq diff cmp comm join paste basename dirname realpath readlink printenv id"
    " whoami uname du df ps od hexdump strings md5sum sha1sum sha256sum cksum column more bat"
    " batcat cd pushd popd read set export local declare shift return exit break continue seq"
    " expr let nproc tac rev fold fmt expand zcat zgrep sleep wait shopt unset ralph eza exa lsof"
    " getconf locale tput clear sum mapfile"
)
PASS_ON: Final = names("env command builtin time timeout nice nohup stdbuf xargs eval")
"""What they run is judged by itself."""
TWO_FILES: Final = r"(?<! -\w) (?!-)\S+ (?!-)\S"
WRITES_WITH: Final = {
    "sort": r" -\w*o| --output",
    "rg": r" --pre[ =]| --hostname-bin",
    "tree": r" -\w*o",
    "date": r" -\w*s| --set| [\d.]+ ",
    "hostname": r" [^-]| -[Fb]",
    "man": r" -\w*[PH]| --pager| --html",
    "less": r" -\w*[oO]| --log-file| \+",
    "xxd": rf" -r| -revert|{TWO_FILES}",
    "yq": r" -\w*i| --inplace| --in-place",
    "fd": r" -[xX] | --exec",
    "find": r" -delete | -fprint| -fls ",
    "uniq": TWO_FILES,
}
"""These only read, unless their arguments contain such a word."""
READS_WITH: Final = {
    "tar": r" (?:-?t[a-zA-Z]*|--list) ",
    "unzip": r" -[lpZ]",
    **dict.fromkeys(SHELLS, r" -\w*c "),
}
"""These only read, or run what is judged by itself, if their first word is like that."""
VERSION: Final = re.compile(
    r"\S+ (?:--version|--help|-V) |(?:node|npm|npx|pnpm|yarn|bun) -v |(?:go|helm) version "
)
NOWHERE: Final = re.compile(r"/dev/(?:null|std(?:out|err)|tty|fd/\d+)|\d+-?|-")
"""Also a number, after `>&`."""


def judge_read_only(call: CommandCall, editors: Collection[str] = ()) -> Iterator[Verdict]:
    """Why the command does more than reading, if it does."""
    for operator, field in call.redirects:
        if operator in WRITE_REDIRECTS and not NOWHERE.fullmatch(field.text):
            yield _deny(f"`{operator} {field.shown}` writes a file")
    if not call.words or call.name in READERS or call.name in PASS_ON or call.name in editors:
        return
    if call.name == "git":
        git = git_call(call.words)
        writes = re.search(r" (?:--output|-o|--lost-found)", call.arguments) or (
            git.subcommand == "format-patch" and "--stdout" not in git.texts
        )
        if writes or not git.is_clear or not git_only_reads(git.subcommand, git.texts):
            yield _deny(f"`git {git.subcommand}` may change something")
    elif not _reads(call):
        yield _deny(f"`{call.name}` may change something")


def _reads(call: CommandCall) -> bool:
    name, arguments = call.name, call.arguments
    if VERSION.fullmatch(name + arguments) and "/" not in call.words[0].text:
        return True
    if name in ("sed", "awk", "gawk", "mawk", "nawk"):
        reads = _sed_reads if name == "sed" else _awk_reads
        return len(arguments) <= LONGEST_PROGRAM and reads(call)
    if name in READS_WITH:
        return re.match(READS_WITH[name], arguments) is not None
    return name in WRITES_WITH and not re.search(WRITES_WITH[name], arguments)


def _deny(what: str) -> Deny:
    return Deny(
        reason=f"{what}, and this phase only looks",
        suggestion="read with `cat`, `sed -n`, `rg`, `ls`, `git log` and the like",
    )


# Small programs in the words of `sed` and `awk`

SED_TEXTS: Final = re.compile(
    r"s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1|y(.)(?:\\.|(?!\2).)*\2(?:\\.|(?!\2).)*\2"
    r"|/(?:\\.|[^/\\\n])*/|#[^\n]*",
    re.DOTALL,
)
"""Patterns, replacements and comments."""
SED_OPTION: Final = re.compile(r"-[nErszu]+|-[nErszu]*e.*|--(?!fi)[a-hj-z].*", re.DOTALL)
AWK_OPTION: Final = re.compile(r"-[Fv].*|--(?:field-sep|assign|re-|posix|trad|csv).*|-[cP]|--")
AWK_VALUES: Final = re.compile("-[Fv]|--assign|--field-separator")
AWK_TEXTS: Final = re.compile(
    r'"(?:\\.|[^"\\\n])*"|(?:(?<=[({;,!~&|\n])|\A)\s*/(?:\\.|\[[^\]\n]*\]|[^/\\\n])+/'
)
AWK_RUNS: Final = re.compile(r"\bsystem\b|@|(?<!\|)\|(?!\|)")
LONGEST_PROGRAM: Final = 10_000
AWK_WRITES: Final = re.compile(r"\bprintf?\b[^;}\n]*>")


def _sed_reads(call: CommandCall) -> bool:
    """Whether no script has the letters of `w`, `W` and `e`, which write files and run commands."""
    options, operands = split_options(call.words[1:])
    scripts = option_values(call.words[1:], "e", "expression") or operands[:1]
    return all(map(SED_OPTION.fullmatch, options)) and not any(
        re.search("[weW]", SED_TEXTS.sub("", script.text)) for script in scripts
    )


def _awk_reads(call: CommandCall) -> bool:
    """Whether it neither starts anything nor prints into a file."""
    own = [*without_values(call.texts, AWK_VALUES)]
    options = [word for word in own if word.startswith("-")]
    program = next((word for word in own if not word.startswith("-")), "")
    text = AWK_TEXTS.sub('""', program)
    if AWK_RUNS.search(text) or AWK_WRITES.search(text):
        return False
    return all(map(AWK_OPTION.fullmatch, options))
