"""Commands that run the command in their arguments: `env`, `sudo`, `timeout`, `uv run`, …"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ralph.core.policy.known import Field

ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Wrapper(NamedTuple):
    """How its own words look, which come before the command."""

    values: str = ""
    """One-letter options that take a value."""
    longs: tuple[str, ...] = ()
    """Long options that take a value in the next word."""
    operands: int = 0
    """Words of its own after the options."""
    assigns: bool = False
    """`NAME=value` may stand before the command."""
    looks: str = ""
    """One-letter options with which nothing is run."""


UV: Final = ("--with", "--with-requirements", "--with-editable", "--python", "--group", "--extra")
UV_RUN: Final = Wrapper(
    "pPCw",
    (
        *UV,
        *("--env-file", "--directory", "--project", "--package", "--index", "--from", "--color"),
        *("--no-group", "--only-group", "--no-extra", "--default-index", "--cache-dir"),
    ),
)
PLAIN: Final = Wrapper()

WRAPPERS: Final[dict[str, Wrapper]] = {
    **dict.fromkeys(
        (
            *("nohup", "builtin", "noglob", "nocorrect", "fakeroot", "unbuffer", "chronic"),
            *("busybox", "toybox", "setsid", "dbus-run-session", "torify", "proxychains"),
            *("winpty", "rlwrap", "eatmydata", "torsocks", "proxychains4", "catchsegv", "ifne"),
            *("dbus-launch", "dumb-init", "tini", "with-contenv", "linux32", "linux64", "prlimit"),
        ),
        PLAIN,
    ),
    "command": Wrapper(looks="vV"),
    "exec": Wrapper("a"),
    "env": Wrapper("uCS", ("--unset", "--chdir", "--split-string"), assigns=True),
    "sudo": Wrapper(
        "ugpCTDRUhrt",
        ("--user", "--group", "--prompt", "--chdir", "--chroot", "--host", "--role", "--type"),
        assigns=True,
    ),
    "doas": Wrapper("uCa"),
    "pkexec": Wrapper("", ("--user",)),
    "runuser": Wrapper("ugG", ("--user", "--group", "--supp-group")),
    "timeout": Wrapper("ks", ("--kill-after", "--signal"), 1),
    "time": Wrapper("fo", ("--format", "--output")),
    "nice": Wrapper("n", ("--adjustment",)),
    "ionice": Wrapper("cnpPu", ("--class", "--classdata")),
    "chrt": Wrapper("TPD", (), 1),
    "taskset": Wrapper("", (), 1),
    "stdbuf": Wrapper("ioe", ("--input", "--output", "--error")),
    **dict.fromkeys(
        (
            *("chroot", "setarch", "runcon", "setuidgid", "s6-setuidgid", "gosu", "su-exec"),
            *("envdir", "faketime"),
        ),
        Wrapper("", (), 1),
    ),
    "chpst": Wrapper("ubeUmdoscplrtnv"),
    "timelimit": Wrapper("tTsS"),
    "numactl": Wrapper("NmCpiw", ("--cpunodebind", "--membind", "--physcpubind", "--preferred")),
    "cpulimit": Wrapper("lpe", ("--limit", "--pid", "--exe")),
    "retry": Wrapper("tdms", ("--times", "--delay", "--max", "--until")),
    "flock": Wrapper("wE", ("--timeout", "--wait", "--conflict-exit-code"), 1),
    "script": Wrapper("cEIOBTmot", ("--command", "--echo", "--log-in", "--log-out"), 1),
    "screen": Wrapper("cehpsStTX"),
    "cross-env": Wrapper(assigns=True),
    "watchexec": Wrapper("wefisdo", ("--watch", "--exts", "--filter", "--ignore", "--signal")),
    "wsl": Wrapper("du", ("--distribution", "--user", "--cd")),
    **dict.fromkeys(
        (
            *("tmux new", "tmux new-session", "tmux neww", "tmux new-window", "tmux splitw"),
            *("tmux split-window", "tmux respawn-pane", "tmux respawn-window", "tmux popup"),
        ),
        Wrapper("ceFfhlnpstwxy"),
    ),
    "firejail": PLAIN,
    "proot": Wrapper("rbqkwvim"),
    "repeat": Wrapper("", (), 1),
    "strace": Wrapper("abeEIoOpPsSuUX"),
    "ltrace": Wrapper("aAeloFnpsuxX"),
    "valgrind": PLAIN,
    "caffeinate": Wrapper("tw"),
    "unshare": Wrapper("SGRw", ("--setuid", "--setgid", "--root", "--wd")),
    "nsenter": Wrapper("tSGrw", ("--target", "--setuid", "--setgid")),
    "setpriv": Wrapper("", ("--reuid", "--regid", "--groups")),
    "systemd-run": Wrapper("pEHMut", ("--unit", "--property", "--setenv", "--slice", "--uid")),
    "systemd-inhibit": PLAIN,
    "xvfb-run": Wrapper("nsfep", ("--server-num", "--server-args", "--auth-file")),
    "entr": PLAIN,
    "npx": Wrapper("p", ("--package",)),
    "bunx": PLAIN,
    "uvx": UV_RUN,
    "uv run": UV_RUN,
    "uv tool run": UV_RUN,
    "conda run": Wrapper("np", ("--name", "--prefix", "--cwd")),
    "mamba run": Wrapper("np", ("--name", "--prefix", "--cwd")),
    "direnv exec": Wrapper("", (), 1),
    "nvm exec": Wrapper("", (), 1),
    "dotenv run": Wrapper("f", ("--file",)),
    **dict.fromkeys(
        (
            *("poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "bundle exec"),
            *("pnpm exec", "npm exec", "yarn exec", "mise exec", "mise x", "op run"),
            *("doppler run", "perf stat", "perf record", "rr record", "pyenv exec", "rbenv exec"),
            *("nodenv exec", "asdf exec", "pixi run", "devbox run", "volta run", "fnm exec"),
        ),
        PLAIN,
    ),
}
LONGEST: Final = 3
LOADER: Final = re.compile(r"ld-(?:linux|musl).*\.so.*|ld\.so.*")
"""Starts the program that it is given."""


def wrapper_of(name: str, words: Sequence[Field]) -> tuple[Wrapper, int] | None:
    """What is known about the command as a wrapper, and how many words its name has."""
    if name in WRAPPERS:
        return WRAPPERS[name], 1
    if LOADER.fullmatch(name):
        return PLAIN, 1
    for count in range(2, LONGEST + 1):
        full = " ".join([name, *(field.text for field in words[1:count])])
        if len(words) >= count and full in WRAPPERS:
            return WRAPPERS[full], count
    return None


def inner(words: Sequence[Field], wrapper: Wrapper, at: int) -> list[Sequence[Field]]:
    """The command inside, as it most likely begins; then other ways to see it."""
    guess = False
    while at < len(words) and words[at].text[:1] in ("-", "+") and words[at].text != "--":
        option = words[at].text
        if not option.startswith("--") and set(option[1:]) & set(wrapper.looks):
            return []
        takes = _takes_value(option, wrapper)
        at += 2 if takes else 1
        guess = not takes
    if at < len(words) and words[at].text == "--":
        at += 1
        guess = False
    while wrapper.assigns and at < len(words) and ASSIGNMENT.match(words[at].text):
        at += 1
    at += wrapper.operands
    if wrapper.operands and at < len(words) and words[at].text == "--":
        at += 1
    # An option that nobody here knows may have a value, which is then not the command.
    return [words[start:] for start in ((at, at + 1) if guess else (at,)) if start < len(words)]


def _takes_value(option: str, wrapper: Wrapper) -> bool:
    if option.startswith("--"):
        return option in wrapper.longs
    for place, letter in enumerate(option[1:], 2):
        if letter in wrapper.values:
            return place == len(option)
    return False
