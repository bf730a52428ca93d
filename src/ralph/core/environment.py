"""Which of a person's variables a session inherits: all, less what harms."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

ENCLOSING: Final = (
    "AI_AGENT",
    "BUN_PTY_LIB",
    "CLAUDECODE",
    "CLAUDE_CODE_*",
    "CLAUDE_AGENT_*",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PROJECT_DIR",
    "CODEX_APPLY_PATCH_*",
    "CODEX_CI",
    "CODEX_MANAGED_*",
    "CODEX_SANDBOX*",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_VERSION",
    "FACTORY_APPEND_SYSTEM_PROMPT",
    "FACTORY_DISABLE_SETTINGS_PERSISTENCE",
    "FACTORY_EXEC_*",
    "RALPH_*",
    "GIT_*",
)
"""An agent that finds these believes that it runs inside another session, or writes elsewhere."""

ON_PURPOSE: Final = (
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH*",
    "GIT_SSL_*",
)
"""What people set themselves: without a name, for example, nobody can commit."""

SECRETS: Final = (
    "ANTHROPIC_*",
    "OPENAI_*",
    "*TOKEN",
    "*_TOKEN_*",
    "*SECRET*",
    "*API_KEY",
    "*APIKEY",
    "*PASSWORD",
    "*PASSWD",
    "*PASSPHRASE",
    "*_PASS",
    "*_PWD",
    "*_AUTH",
    "*ACCESS_KEY*",
    "*PRIVATE_KEY*",
)
"""Keys that change who pays, and other likely secrets, in capitals or not."""


DURABLE_GIT: Final = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsync",
    "GIT_CONFIG_VALUE_0": "objects,reference,index",
    "GIT_CONFIG_KEY_1": "core.fsyncMethod",
    "GIT_CONFIG_VALUE_1": "fsync",
}
"""For the git of sessions. What it names without having synced it may be an empty file after a
power cut, over which every later git stumbles."""


def inherited(
    environ: Mapping[str, str], allowed: Sequence[str], keys: Sequence[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What a session gets, and the names of the secrets that were dropped.

    `keys`: further names that decide who pays.
    """
    kept: dict[str, str] = {}
    dropped: list[str] = []
    for name, value in environ.items():
        if _matches(name, allowed):
            kept[name] = value
        elif name in keys or _matches(name.upper(), SECRETS):
            dropped.append(name)
        elif _matches(name, ON_PURPOSE) or not _matches(name, ENCLOSING):
            kept[name] = value
    return kept, tuple(sorted(dropped))


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """For what needs none of them."""
    return {name: value for name, value in environ.items() if not _matches(name.upper(), SECRETS)}


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
