"""Commands that make something run when the session is over."""

import re
from typing import Final

from ralph.core.policy.decision import Deny
from ralph.core.policy.walking import Call

LISTS: Final = frozenset({"-l", "-c", "-h", "-V", "--help", "--version"})
SCHEDULES: Final = {
    **dict.fromkeys(("crontab", "at", "batch"), ""),
    "systemctl": "enable|reenable|link|edit|preset|mask|set-default|add-wants|add-requires",
    "loginctl": "enable-linger|terminate-.*|kill-.*",
    "launchctl": "load|bootstrap|submit|enable",
    "systemd-run": "--on-.*|--timer-property.*",
    **dict.fromkeys(("update-rc.d", "chkconfig", "rc-update", "chsh", "usermod"), ".*"),
}
"""The word with which they do it; empty: whatever their words are, unless they list."""


def judge_schedule(call: Call) -> Deny | None:
    """Whether the command changes what this machine runs by itself."""
    words = [word.text for word in call.words[1:]]
    verbs = SCHEDULES.get(call.name)
    if verbs is None or call.words[0].text.startswith((".", "bin/")) or LISTS & set(words):
        return None
    if verbs and not any(re.fullmatch(verbs, word) for word in words):
        return None
    return Deny(
        reason=f"this `{call.name}` has an effect when the session is over",
        suggestion="run it now, or leave it to a person",
    )
