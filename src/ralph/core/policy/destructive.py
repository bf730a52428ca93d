"""What nobody wants to happen while they sleep, whatever the settings say."""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from ralph.core.policy.decision import Deny, Ground
from ralph.core.policy.finding import removals_of_find
from ralph.core.policy.known import UNKNOWN, Field
from ralph.core.policy.places import (
    DEVICE,
    TEMPORARY,
    is_own,
    is_temporary,
    is_within,
    resolved,
    without_glob,
)
from ralph.core.policy.walking import Call

OWN_STATE: Final = (".git", ".ralph")
WRITES: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
DISK_TOOLS: Final = re.compile(
    r"mkfs(?:\..*)?|mke2fs|mkswap|wipefs|blkdiscard|sfdisk|fdisk|gdisk|sgdisk|parted|badblocks"
    r"|pvcreate|pvremove|cfdisk|mkdosfs|newfs(?:_.*)?"
)
LISTS: Final = frozenset({"-l", "--list", "-h", "--help", "--version", "-V", "print"})
DISK_VERBS: Final = {
    "diskutil": "erase.*|partition.*|zero.*|secureerase|reformat",
    **dict.fromkeys(("zpool", "zfs"), "destroy|labelclear"),
    "nvme": "format|sanitize",
    "hdparm": "--security-erase.*",
    "cryptsetup": "luksformat|erase|lukserase",
    "mdadm": "--zero-superblock",
    **dict.fromkeys(("lvremove", "vgremove"), ".*"),
}
"""Programs that look at disks, too, and the words with which they destroy what is there."""
STOPS: Final = frozenset({"shutdown", "reboot", "halt", "poweroff"})


def judge_destruction(call: Call, ground: Ground) -> Deny | None:
    """What the command would destroy, if anything."""
    for operator, field in call.redirects:
        if operator in WRITES and DEVICE.match(field.text):
            return _disk(field.text)
    if DISK_TOOLS.fullmatch(call.name):
        return _disk_tool(call)
    verbs = DISK_VERBS.get(call.name)
    if verbs is not None and any(re.fullmatch(verbs, word.text.lower()) for word in call.words[1:]):
        return _disk(call.name)
    judge = JUDGES.get(call.name)
    return judge(call, ground) if judge is not None else None


def _disk(what: str) -> Deny:
    return Deny(reason=f"this writes to a disk itself ({what})", suggestion="write to a file")


def _disk_tool(call: Call) -> Deny | None:
    words = [word.text for word in call.words[1:]]
    if LISTS & set(words):
        return None
    named = [word for word in words if not word.startswith("-")]
    if named and not any(word.startswith(("/dev/", UNKNOWN)) for word in named):
        # An image in a file.
        return None
    return _disk(call.name)


def _rm(call: Call, ground: Ground) -> Deny | None:
    options, targets = _parted(call.words[1:])
    if not any(re.match(r"-[a-zA-Z]*[rR]|--rec|--no-pres", option) for option in options):
        return None
    return _first(_removal(target, call.cwd, ground) for target in targets)


def _parted(words: Sequence[Field]) -> tuple[list[str], list[Field]]:
    """Options and the rest; `--` ends options."""
    options: list[str] = []
    rest: list[Field] = []
    for number, word in enumerate(words):
        if word.text == "--":
            return options, [*rest, *words[number + 1 :]]
        if word.text.startswith("-") and len(word.text) > 1:
            options.append(word.text)
        else:
            rest.append(word)
    return options, rest


def _removal(target: Field, cwd: str | None, ground: Ground) -> Deny | None:
    folder, takes_all = without_glob(target.text) if target.glob else (target.text, False)
    path = resolved(folder, cwd)
    if path is None or not target.text:
        return None
    is_part = (target.glob and not takes_all) or UNKNOWN in path
    path = _known_folder(path)
    shown = target.shown
    if any(is_within(path, f"{ground.checkout}/{name}") for name in OWN_STATE) or (
        target.glob and path == ground.checkout and _takes_own_state(target.text)
    ):
        return Deny(
            reason=f"removing `{shown}` would lose what git and Ralph have kept",
            suggestion="remove files of the project only",
        )
    if _may_go(path, target, cwd, ground) or (is_part and path in TEMPORARY):
        if path == ground.checkout and not is_part:
            return Deny(
                reason=f"removing `{shown}` would remove the whole checkout",
                suggestion="name what is to be removed",
            )
        return None
    return Deny(
        reason=f"`{shown}` is outside the checkout, and this removes all that is in it",
        suggestion="remove files of the project only; a temporary folder below /tmp is fine",
    )


def _may_go(path: str, target: Field, cwd: str | None, ground: Ground) -> bool:
    """In the checkout, or in a temporary folder that has nothing to do with it."""
    if is_within(path, ground.checkout):
        return True
    climbs = not target.text.startswith("/") and is_within(cwd or "", ground.checkout)
    beside = ground.checkout.rpartition("/")[0]
    neighbour = beside not in TEMPORARY and is_within(path, beside)
    return is_temporary(path) and not (climbs or neighbour or is_within(ground.checkout, path))


def _known_folder(path: str) -> str:
    """The deepest folder of the path that is known."""
    if UNKNOWN not in path:
        return path
    return path[: path.index(UNKNOWN)].rpartition("/")[0] or "/"


def _takes_own_state(pattern: str) -> bool:
    """`.g*`, `.??*`, `.[!.]*`: the dot stands there in letters, or it does not count."""
    part = next((part for part in pattern.split("/") if re.search(r"[*?\[]", part)), "")
    plain = part.replace("[^", "[!")
    return part.startswith(".") and any(fnmatchcase(name, plain) for name in OWN_STATE)


def _find(call: Call, ground: Ground) -> Deny | None:
    return _first(_removal(each, call.cwd, ground) for each in removals_of_find(call.words))


def _rsync(call: Call, ground: Ground) -> Deny | None:
    """`--delete`: what is not in the source goes."""
    options, words = _parted(call.words[1:])
    if not words or not any(option.startswith("--del") for option in options):
        return None
    is_elsewhere = ":" in words[-1].text
    return None if is_elsewhere else _removal(words[-1], call.cwd, ground)


def _chmod(call: Call, ground: Ground) -> Deny | None:
    options, words = _parted(call.words[1:])
    if not any(re.match(r"-[a-zA-Z]*R|--rec", option) for option in options):
        return None
    for word in words if any("--reference" in option for option in options) else words[1:]:
        path = resolved(without_glob(word.text)[0], call.cwd)
        if path is not None and not is_own(_known_folder(path), ground):
            return Deny(
                reason=f"this changes all files in `{word.shown}`, which is outside the checkout",
                suggestion="change files of the project only",
            )
    return None


def _mv(call: Call, ground: Ground) -> Deny | None:
    _, words = _parted(call.words[1:])
    if words and DEVICE.match(words[-1].text):
        return _disk(words[-1].text)
    own = (f"{ground.checkout}/{name}" for name in OWN_STATE)
    precious = {"/", ground.home, ground.checkout, *own}
    for word in words[:-1]:
        folder, takes_all = without_glob(word.text) if word.glob else (word.text, True)
        if call.name == "mv" and takes_all and resolved(folder, call.cwd) in precious:
            return Deny(
                reason=f"moving `{word.shown}` away would lose it",
                suggestion="name the files that are to be moved",
            )
    return None


def _dd(call: Call, _ground: Ground) -> Deny | None:
    for word in call.words[1:]:
        if word.text.startswith("of=") and DEVICE.match(word.text[3:]):
            return _disk(word.text[3:])
    return None


def _onto(call: Call, _ground: Ground) -> Deny | None:
    for word in call.words[1:]:
        if DEVICE.match(word.text):
            return _disk(word.text)
    return None


def _power(call: Call, _ground: Ground) -> Deny | None:
    words = {word.text for word in call.words[1:]}
    ends = call.name in STOPS or (call.name.endswith("init") and words & {"0", "6"})
    if ends or words & {"poweroff", "reboot", "halt", "kexec"}:
        return Deny(reason="this would stop the machine", suggestion="go on without a restart")
    return None


def _kill(call: Call, _ground: Ground) -> Deny | None:
    if call.name == "killall5" or (len(call.words) > 2 and call.words[-1].text == "-1"):
        return Deny(
            reason="this would end every process there is",
            suggestion="end the process that you started, by its number",
        )
    return None


def _crontab(call: Call, _ground: Ground) -> Deny | None:
    if any(re.match(r"-\w*r", word.text) for word in call.words[1:]):
        return Deny(
            reason="this removes all that a person has scheduled",
            suggestion="leave the timetable of this machine alone",
        )
    return None


def _first(verdicts: Iterable[Deny | None]) -> Deny | None:
    return next((verdict for verdict in verdicts if verdict is not None), None)


JUDGES: Final[dict[str, Callable[[Call, Ground], Deny | None]]] = {
    "rm": _rm,
    "find": _find,
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "setfacl"), _chmod),
    **dict.fromkeys(("mv", "cp", "install"), _mv),
    "dd": _dd,
    **dict.fromkeys(("tee", "shred", "truncate"), _onto),
    **dict.fromkeys((*STOPS, "init", "telinit", "systemctl"), _power),
    **dict.fromkeys(("kill", "killall5"), _kill),
    "rsync": _rsync,
    "crontab": _crontab,
}
