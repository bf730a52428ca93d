"""Who pays for a session of Claude Code, in the order in which it looks itself."""

import sys
from collections.abc import Mapping
from typing import Final

import msgspec

from ralph.adapters.agents.claude.traits import CREDENTIALS, SETTINGS
from ralph.adapters.agents.lines import salvage
from ralph.core.safe_text import one_line
from ralph.ports.agent import Account

CLOUDS: Final = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
}


class _Login(msgspec.Struct, frozen=True, kw_only=True):
    token: str = msgspec.field(name="accessToken", default="")
    plan: str | None = msgspec.field(name="subscriptionType", default=None)


class _Credentials(msgspec.Struct, frozen=True, kw_only=True):
    login: _Login = msgspec.field(name="claudeAiOauth", default=_Login())


class _Settings(msgspec.Struct, frozen=True, kw_only=True):
    helper: str = msgspec.field(name="apiKeyHelper", default="")
    env: dict[str, str] = {}


def account(
    env: Mapping[str, str], files: Mapping[str, bytes], platform: str = sys.platform
) -> Account:
    """As far as variables and files tell."""
    settings = salvage(files.get(SETTINGS, b"{}"), _Settings)
    login = salvage(files.get(CREDENTIALS, b"{}"), _Credentials).login
    env = {**env, **settings.env}
    for name, cloud in CLOUDS.items():
        if env.get(name) not in (None, "", "0", "false"):
            return Account(name=cloud, billed=True)
    if env.get("ANTHROPIC_AUTH_TOKEN"):
        return Account(name="whoever ANTHROPIC_AUTH_TOKEN belongs to", logged_in=True)
    if env.get("ANTHROPIC_API_KEY"):
        return Account(name="an Anthropic API key", billed=True, logged_in=True)
    if settings.helper:
        return Account(name="an API key from apiKeyHelper", billed=True, logged_in=True)
    if env.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return Account(name="a Claude subscription (token)", billed=False, logged_in=True)
    if login.token:
        plan = f" ({one_line(login.plan, 40)})" if login.plan else ""
        return Account(name=f"a Claude subscription{plan}", billed=False, logged_in=True)
    if platform == "darwin":
        return Account(name="the login in the key chain, if there is one")
    return Account(name="nobody: not logged in", logged_in=False)
