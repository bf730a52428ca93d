"""Commands that act on the machine: its disks, its power, its processes, what it runs later."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ralph.core.policy.decision import Deny, Doubt, Policy, PolicyContext, Verdict
from ralph.core.policy.words import UNKNOWN, CommandCall, names, without_values

ASKS: Final = names("-l -L -V --list --version --help")
LISTS: Final = ASKS | {"-c", "print"}
ANY: Final = ""
"""Whatever the words are, unless they ask for a list."""
DISK: Final = "this writes to a disk itself ({})", "write to a file"
POWER: Final = "this would stop the machine", "go on without a restart"
LATER: Final = (
    "this `{}` has an effect when the session is over",
    "run it now, or leave it to a person",
)
PROCESSES: Final = (
    "this would end every process there is, or those of the system",
    "end the process that you started, by its number",
)
FORMATTERS: Final = (
    r"mkfs(?:\..*)?|mke2fs|mkswap|wipefs|blkdiscard|sfdisk|fdisk|gdisk|sgdisk|parted|badblocks"
    r"|pvcreate|pvremove|cfdisk|mkdosfs|newfs(?:_.*)?"
)
RULES: Final = (
    (DISK, FORMATTERS, ANY),
    (DISK, "diskutil", "erase.*|partition.*|zero.*|secureerase|reformat"),
    (DISK, "lvremove|vgremove", ANY),
    (DISK, "zpool|zfs|nvme|cryptsetup", "destroy|format|sanitize|luksformat|erase"),
    (POWER, "shutdown|reboot|halt|poweroff", ANY),
    (POWER, "init|telinit", "[06]"),
    (POWER, "systemctl|loginctl", "poweroff|reboot|halt|kexec"),
    (PROCESSES, "killall5|slay", ANY),
    (LATER, "f?crontab|at|batch|update-rc.d|chkconfig|rc-update|chsh|usermod", ANY),
    (LATER, "systemctl", "(?:re)?enable|link|edit|preset|mask|set-default|add-(?:wants|requires)"),
    (LATER, "loginctl", "enable-linger"),
    (LATER, "launchctl", "load|bootstrap|submit|enable"),
    (LATER, "systemd-run", ANY),
)
"""Programs, and the words with which they change something."""
VALUES: Final = re.compile(
    r"-[uUgGPstF]|--(?:signal|e?uid|user|parent|p?group|session|terminal|pidfile|ns)"
)
"""Options of `pkill` and `killall` that take a value."""
RELATED: Final = re.compile(r"-[PgF]\w*|--(?:parent|pgroup|pidfile)(?:=.*)?")
"""Options that select processes by how they were started."""
SYSTEM: Final = names("init systemd launchd sshd login sh bash zsh")
SPECIFIC: Final = re.compile(r"[\w-]{2}|[^\x00-\x7f]")
"""The letters that a pattern needs to select something in particular."""


def deny_because(rule: tuple[str, str], what: str) -> Deny:
    return Deny(reason=rule[0].format(what), suggestion=rule[1])


def judge_machine(call: CommandCall, _policy: Policy, _context: PolicyContext) -> Iterator[Verdict]:
    """Whether the command changes the machine, or ends its processes."""
    yield _judge_kill(call)
    words = [text.lower() for text in call.texts]
    if call.words and call.words[0].text.startswith((".", "bin/")):
        # A program of the project that has such a name.
        return
    for rule, programs, pattern in RULES:
        if not re.fullmatch(programs, call.name) or (pattern == ANY and LISTS & set(words)):
            continue
        named = [word for word in words if not word.startswith("-")]
        is_device = any(word.startswith(("/dev/", UNKNOWN)) for word in named) or not named
        if programs is FORMATTERS and not is_device:
            # `mkfs.ext4 disk.img`
            continue
        if pattern == ANY or any(re.fullmatch(pattern, word) for word in words):
            yield deny_because(rule, call.name)


def _judge_kill(call: CommandCall) -> Verdict:
    name, texts = call.name, call.texts
    named = [text for text in without_values(texts, VALUES) if not text.startswith("-")]
    if name not in ("kill", "pkill", "killall") or ASKS & set(texts):
        return None
    if name == "kill":
        ends_all = "1" in named or (len(texts) > 1 and texts[-1] == "-1")
    elif UNKNOWN in named:
        return Doubt(reason=f"which processes `{name}` ends is known only as the shell runs")
    elif not named:
        ends_all = bool(texts) and not any(map(RELATED.fullmatch, texts))
    else:
        ends_all = selects_all(named, texts) or bool(SYSTEM & set(named)) or "-v" in texts
    return deny_because(PROCESSES, name) if ends_all else None


def selects_all(patterns: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a pattern of `pgrep` or `pkill` selects nothing in particular."""
    choices = re.sub(r"\[[^]]*\]+|\\.|\{[^}]*\}", "", "|".join(patterns)).split("|")
    return not all(map(SPECIFIC.search, choices)) and "-x" not in texts
