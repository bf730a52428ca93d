"""Commands that act on the machine as a whole: its disks, its power, what it runs by itself."""

import re
from typing import Final

from ralph.core.policy.decision import Deny
from ralph.core.policy.known import UNKNOWN
from ralph.core.policy.walking import Call
from ralph.core.policy.written_files import disk

DISK_TOOLS: Final = re.compile(
    r"mkfs(?:\..*)?|mke2fs|mkswap|wipefs|blkdiscard|sfdisk|fdisk|gdisk|sgdisk|parted|badblocks"
    r"|pvcreate|pvremove|cfdisk|mkdosfs|newfs(?:_.*)?"
)
LISTS: Final = frozenset({"-l", "-c", "--list", "--help", "--version", "-V", "print"})
ANY: Final = ""
"""Whatever the words are, unless they ask for a list."""
DISKS: Final = {
    "diskutil": "erase.*|partition.*|zero.*|secureerase|reformat",
    **dict.fromkeys(("zpool", "zfs"), "destroy|labelclear"),
    "nvme": "format|sanitize",
    "hdparm": "--security-erase.*",
    "cryptsetup": "luksformat|erase|lukserase",
    "mdadm": "--zero-superblock",
    **dict.fromkeys(("lvremove", "vgremove"), ANY),
}
POWER: Final = {
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), ANY),
    **dict.fromkeys(("init", "telinit"), "[06]"),
    "systemctl": "poweroff|reboot|halt|kexec",
}
LATER: Final = {
    **dict.fromkeys(("crontab", "at", "batch"), ANY),
    "systemctl": "enable|reenable|link|edit|preset|mask|set-default|add-wants|add-requires",
    "loginctl": "enable-linger|terminate-.*|kill-.*",
    "launchctl": "load|bootstrap|submit|enable",
    "systemd-run": "--on-.*|--timer-property.*",
    **dict.fromkeys(("update-rc.d", "chkconfig", "rc-update", "chsh", "usermod"), ANY),
}
"""Programs, and the words with which they change something."""


def judge_machine(call: Call) -> Deny | None:
    """Whether the command does something to the machine."""
    words = [word.text.lower() for word in call.words[1:]]
    if call.words and call.words[0].text.startswith((".", "bin/")):
        # A program of the project that has such a name.
        return None
    if DISK_TOOLS.fullmatch(call.name):
        named = [word for word in words if not word.startswith("-")]
        is_image = named and not any(word.startswith(("/dev/", UNKNOWN)) for word in named)
        return None if is_image or LISTS & set(words) else disk(call.name)
    if _changes(DISKS, call.name, words):
        return disk(call.name)
    if _changes(POWER, call.name, words):
        return Deny(reason="this would stop the machine", suggestion="go on without a restart")
    if _changes(LATER, call.name, words):
        return Deny(
            reason=f"this `{call.name}` has an effect when the session is over",
            suggestion="run it now, or leave it to a person",
        )
    return None


def _changes(verbs: dict[str, str], name: str, words: list[str]) -> bool:
    if verbs.get(name) == ANY:
        return not LISTS & set(words)
    return name in verbs and any(re.fullmatch(verbs[name], word) for word in words)
