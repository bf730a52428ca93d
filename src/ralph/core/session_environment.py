"""Which environment variables a session inherits: all but those that would harm it."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

OTHER_AGENT_VARIABLES: Final = str.split("""
    AI_AGENT BUN_PTY_LIB CLAUDECODE CLAUDE_CODE_* CLAUDE_AGENT_* CLAUDE_EFFORT CLAUDE_ENV_FILE
    CLAUDE_PROJECT_DIR CODEX_APPLY_PATCH_* CODEX_CI CODEX_MANAGED_* CODEX_SANDBOX* CODEX_SESSION_ID
    CODEX_THREAD_ID CODEX_TOOL_CALL_ID CODEX_VERSION COPILOT_AGENT_SESSION_ID COPILOT_CLI
    COPILOT_CLI_BINARY_VERSION COPILOT_CLI_RESOLVED_DIST_DIR COPILOT_LOADER_PID
    FACTORY_APPEND_SYSTEM_PROMPT
    FACTORY_DISABLE_SETTINGS_PERSISTENCE FACTORY_EXEC_* PI_MODEL PI_PROVIDER PI_REASONING_LEVEL
    PI_SESSION_FILE PI_SESSION_ID RALPH_* GIT_*
""")
"""An agent that finds these believes that it runs inside another session, or writes elsewhere."""

GIT_CEILING: Final = "GIT_CEILING_DIRECTORIES"
"""The folders at which git's search for a repository ends."""

KEPT_GIT_VARIABLES: Final = str.split("""
    GIT_CEILING_DIRECTORIES
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_CONFIG_GLOBAL
    GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM GIT_EXEC_PATH GIT_SSH* GIT_SSL_*
""")
"""What people set themselves: without a name, for example, git refuses to commit."""

SECRETS: Final = str.split("""
    ANTHROPIC_* OPENAI_* *TOKEN *_TOKEN_* *SECRET* *API_KEY *APIKEY *PASSWORD *PASSWD *PASSPHRASE
    *_PASS *_PWD *_AUTH *_PAT *CREDENTIAL* *ACCESS_KEY* *PRIVATE_KEY*
""")
"""Keys that change who pays, and other likely secrets, in capitals or not."""


DURABLE_GIT: Final = {
    "GIT_CONFIG_COUNT": "4",
    "GIT_CONFIG_KEY_0": "core.fsync",
    "GIT_CONFIG_VALUE_0": "objects,reference,index",
    "GIT_CONFIG_KEY_1": "core.fsyncMethod",
    "GIT_CONFIG_VALUE_1": "fsync",
    "GIT_CONFIG_KEY_2": "gc.auto",
    "GIT_CONFIG_VALUE_2": "0",
    "GIT_CONFIG_KEY_3": "fetch.unpackLimit",
    "GIT_CONFIG_VALUE_3": "2147483647",
}
"""For the git of sessions. What it names without having synced it may be an empty file after a
power cut, over which every later git stumbles. Sessions write no packs: Ralph's own commits pack
objects."""


OWN_LOG_ENTRIES: Final = "ralph"
"""How the entries that git writes into its logs begin, where Ralph or a session did it."""

SESSION_GIT: Final = {"GIT_REFLOG_ACTION": f"{OWN_LOG_ENTRIES}-session"}
"""Tells a session's commits from those of a person in the same checkout."""


def inherited_variables(
    environ: Mapping[str, str], allowed: Sequence[str], keys: Sequence[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables of a session, and the names of the secrets that were dropped.

    `keys`: further names that decide who pays.
    """
    kept: dict[str, str] = {}
    dropped: list[str] = []
    for name, value in environ.items():
        if _matches(name, allowed):
            kept[name] = value
        elif name in keys or _matches(name.upper(), SECRETS):
            dropped.append(name)
        elif _matches(name, KEPT_GIT_VARIABLES) or not _matches(name, OTHER_AGENT_VARIABLES):
            kept[name] = value
    return kept, tuple(sorted(dropped))


def with_git_ceiling(environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment in which git, started below the folder, finds no repository above."""
    others = environ.get(GIT_CEILING, "")
    return {**environ, GIT_CEILING: f"{folder}:{others}" if others else folder}


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not _matches(name.upper(), SECRETS)}


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
