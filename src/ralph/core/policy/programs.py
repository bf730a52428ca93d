"""Programs that run other commands, or texts that are shell again: `env`, `xargs`, `bash -c`, …"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ralph.core.policy.output import listed_files
from ralph.core.policy.words import SOME_FILE, UNKNOWN, Field, names, option_values

ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
SHELLS: Final = names("sh bash dash zsh ksh mksh ash rbash fish yash posh csh tcsh hush")
STDIN: Final = names("- /dev/stdin /dev/fd/0 /proc/self/fd/0")
MOST_ITEMS: Final = 50
"""Items of `xargs` that are looked at one by one."""

Words = Sequence[Field]


class ProgramRun(NamedTuple):
    """What a command starts: another command, or a shell that reads a text."""

    words: tuple[Field, ...] = ()
    text: Field | None = None
    arguments: tuple[str, ...] | None = None
    """What `$1` and the following may be in the text."""


class Wrapper(NamedTuple):
    """A program that runs what its arguments contain: how its own words look."""

    letters: str = ""
    """One-letter options that take a value."""
    operands: int = 0
    """Words of its own after the options."""
    is_text: bool = False
    """The other words, joined by blanks, are a text for a shell."""


TABLE: Final = """
c0 -     nohup command builtin noglob busybox setsid fakeroot unbuffer chronic valgrind entr bunx
c0 -     toybox coreutils dbus-run-session catchsegv linux32 linux64 tsocks torsocks proxychains
c0 -     proxychains4 rlwrap retry nq tsp nyc c8 firejail flatpak-spawn toolbox_run pkexec
c0 -     ifne cross-env run poetry_run pipenv_run pdm_run hatch_run rye_run pixi_run devbox_run
c0 -     volta_run doppler_run op_run bundle_exec npm_exec pnpm_exec yarn_exec pyenv_exec rbenv_exec
c0 -     asdf_exec fnm_exec mise_exec mise_x nix_develop perf_stat perf_record
c0 a     exec
c0 uC    env
c0 uCagGpTDRUhrt     sudo doas runuser
c0 fo    time dotenv dotenvx
c0 cnpPu nice ionice npx conda_run mamba_run
c0 ioe   stdbuf
c0 ceFfhlnpstwxySTX  screen tmux_new tmux_new-session tmux_new-window tmux_split-window
c0 abeEIoOpPsSuUX    strace ltrace
c0 wefisdoaAlFnpuxX  watchexec xvfb-run caffeinate unshare systemd-run
c0 tSGCPMmNpg        nsenter numactl prlimit setpriv cgexec
c0 pPCw  uvx uv_run uv_tool_run
c1 -     chroot taskset chrt repeat direnv_exec nvm_exec nix_shell setarch runcon faketime
c1 -     distrobox_enter guix_shell
c1 ks    timeout gtimeout
c1 wE    flock
c1 cEIOBTmot         script
t0 -     eval trap
t0 nq    watch
t0 jNnPLSaI          parallel sem
t1 bcDEeFIiJLlmOopQRSWw  ssh
"""
"""A command (c) or a text (t) after so many operands; letters of options with values; names."""
WRAPPERS: Final = {
    name.replace("_", " "): Wrapper(letters, int(kind[1]), kind[0] == "t")
    for kind, letters, *rest in map(str.split, TABLE.strip().splitlines())
    for name in rest
}
XARGS: Final = Wrapper("aEILnPsd")
SHELL: Final = Wrapper("oO")
TEXT_OPTIONS: Final = {
    **dict.fromkeys(names("su sg runuser script flock"), ("c", "command|session-command")),
    **dict.fromkeys(names("npx npm"), ("c", "call")),
    "env": ("S", "split-string"),
    "entr": ("s", "shell"),
    "nodemon": ("x", "exec"),
    "nix-shell": ("none", "run|command"),
}
"""The options whose value is a text for a shell."""
TEXTS_WITH_BLANKS: Final = names("hyperfine concurrently tmux screen")
"""`tmux new 'make test'`: each word that contains a blank may be a text for a shell."""


def started_by(name: str, words: Words, stdin: Field | None) -> list[ProgramRun]:
    found = list(RUNNERS[name](words, stdin)) if name in RUNNERS else []
    if name in TEXT_OPTIONS:
        found += [ProgramRun(text=word) for word in option_values(words, *TEXT_OPTIONS[name])]
    if name in TEXTS_WITH_BLANKS:
        found += [ProgramRun(text=word) for word in words[1:] if " " in word.text and word.known]
    found += _wrapped(name, words)
    return [run for run in found if run.words or (run.text and run.text.text.strip())]


def _wrapped(name: str, words: Words) -> Iterator[ProgramRun]:
    wrapper, count = _wrapper(name, words)
    for inside in _inner(words, wrapper, count) if wrapper else ():
        if wrapper and wrapper.is_text:
            yield ProgramRun(text=inside[0] if name == "trap" else _joined(inside))
        else:
            yield ProgramRun(words=tuple(inside))


def _wrapper(name: str, words: Words) -> tuple[Wrapper | None, int]:
    """The row of the table, and the number of words in the wrapper's name."""
    for count in (3, 2, 1):
        full = " ".join([name, *_texts(words[1:count])])
        if len(words) >= count and full in WRAPPERS:
            return WRAPPERS[full], count
    return None, 0


def _inner(words: Words, wrapper: Wrapper, start: int) -> list[Words]:
    """What may be inside a wrapper: `--user root rm` is read with and without a value."""
    if words[0].text == "command" and re.match("-[vV]", "".join(_texts(words[1:2]))):
        return []
    found = []
    for long_takes_value in (False, True):
        at = _after_options(words, wrapper, start, long_takes_value=long_takes_value)
        # In a text for a shell, `x=y` is part of the text.
        while not wrapper.is_text and at < len(words) and ASSIGNMENT.match(words[at].text):
            at += 1
        if wrapper.operands:
            after = at + wrapper.operands
            at = _after_options(words, wrapper, after, long_takes_value=long_takes_value)
        if words[at:] and words[at:] not in found:
            found.append(words[at:])
    return found


def _after_options(
    words: Words, wrapper: Wrapper, at: int, *, long_takes_value: bool = False
) -> int:
    """Where the options end."""
    while at < len(words) and words[at].text[:1] in ("-", "+"):
        option = words[at].text
        at += 1
        if option == "--":
            break
        if option.startswith("--"):
            is_next_a_value = at < len(words) and words[at].text[:1] != "-"
            at += long_takes_value and "=" not in option and is_next_a_value
            continue
        letters = option[1:]
        value = next((place for place, each in enumerate(letters, 2) if each in wrapper.letters), 0)
        at += value == len(option)
    return at


def _texts(words: Words) -> tuple[str, ...]:
    return tuple(word.text for word in words)


def _joined(words: Words) -> Field:
    """Words with blanks between them, as `eval` sees them."""
    if len(words) == 1:
        return words[0]
    return Field(" ".join(_texts(words)), start=words[0].start)


def _shell(words: Words, stdin: Field | None) -> Iterable[ProgramRun]:
    at = _after_options(words, SHELL, 1, long_takes_value=True)
    options, rest = _texts(words[1:at]), words[at:]
    if any(re.fullmatch("-[a-zA-Z]*c[a-zA-Z]*|--command", option) for option in options):
        return [ProgramRun(text=rest[0], arguments=_texts(rest[2:]))] if rest else []
    reads_stdin = any(re.fullmatch("-[a-zA-Z]*s[a-zA-Z]*", option) for option in options)
    return _script_file([] if reads_stdin else rest, stdin)


def _script_file(words: Words, stdin: Field | None) -> Iterable[ProgramRun]:
    """The standard input is read; a file is not, and another command's output is unknown."""
    text = None
    if not words or words[0].text in STDIN:
        text = stdin
    elif re.match(r"/(?:dev|proc/self)/fd/", words[0].text):
        text = Field(UNKNOWN)
    return [] if text is None else [ProgramRun(text=text)]


# Commands for each of many files


def _item(text: str) -> Field:
    return Field(SOME_FILE if text == UNKNOWN else text, glob="*" in text and UNKNOWN not in text)


def _filled(command: Words, sign: str, value: str) -> ProgramRun:
    """The command with an item in each place of the sign."""
    words = (
        _item(word.text.replace(sign, value)) if sign in word.text else word for word in command
    )
    return ProgramRun(words=tuple(words))


def _xargs(words: Words, stdin: Field | None) -> Iterable[ProgramRun]:
    given = UNKNOWN if stdin is None else stdin.text
    for command in _inner(words, XARGS, 1):
        own = " ".join(["", *_texts(words[1 : len(words) - len(command)]), ""])
        if found := re.search(r" (?:-I ?(\S+)|(?:-i|--replace)(?:=(\S+))? )", own):
            sign = found[1] or found[2] or "{}"
            for line in given.splitlines()[:MOST_ITEMS]:
                yield _filled(command, sign, line)
        else:
            yield ProgramRun(words=(*command, *map(_item, given.split())))


def _parallel(words: Words, stdin: Field | None) -> Iterable[ProgramRun]:
    """The items in its input; those after `:::` are part of its text."""
    if stdin is None:
        return
    lines = stdin.text.splitlines()[:MOST_ITEMS]
    for each in _inner(words, WRAPPERS["parallel"], 1):
        parts = [Field(part) for part in each[0].text.split()]
        command = parts if len(each) == 1 else each
        if any(word.text.startswith("::") for word in command):
            continue
        for line in lines:
            if any("{}" in word.text for word in command):
                yield _filled(command, "{}", line)
            else:
                yield ProgramRun(words=(*command, _item(line)))


def _find(words: Words, _stdin: Field | None) -> Iterable[ProgramRun]:
    """What `find -exec` and `fd -x` run for the files that they find."""
    name, start = words[0].text.rpartition("/")[2], 0
    for at, word in enumerate((*words, Field(";"))):
        if start and word.text in (";", "+"):
            command = [*words[start:at]]
            if "fd" in name and not any("{" in each.text for each in command):
                command.append(Field("{}"))
            files = listed_files(name, words[: start - 1]) or [SOME_FILE]
            yield from (_filled(command, "{}", file) for file in files)
            start = 0
        elif not start and word.text in EXECS:
            start = at + 1


EXECS: Final = names("-exec -execdir -ok -okdir -x -X --exec --exec-batch")
RUNNERS: Final[dict[str, Callable[[Words, Field | None], Iterable[ProgramRun]]]] = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(("source", "."), lambda words, stdin: _script_file(words[1:], stdin)),
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    "alias": lambda words, _: [
        ProgramRun(text=Field(word.text.partition("=")[2])) for word in words[1:]
    ],
    "xargs": _xargs,
    "parallel": _parallel,
}
