"""Who pays for a session of Codex."""

import base64
import binascii
import tomllib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ralph.adapters.agents.lines import UNREADABLE
from ralph.core.safe_text import one_line
from ralph.ports.agent import Account

KEY: Final = "CODEX_API_KEY"
LOGIN: Final = "auth.json"
PROVIDERS: Final = "config.toml"
CLAIM: Final = "https://api.openai.com/auth"


class _Tokens(msgspec.Struct, frozen=True, kw_only=True):
    id_token: str = ""
    access_token: str = ""


class _Login(msgspec.Struct, frozen=True, kw_only=True, rename={"key": "OPENAI_API_KEY"}):
    key: str | None = None
    tokens: _Tokens | None = None


def payer(env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:
    """The provider that a person has set up, else the key in the environment, else the login."""
    config = _config(files.get(PROVIDERS, b""))
    if account := _provider(env, config):
        return account
    if env.get(KEY):
        return Account(name=f"an OpenAI API key ({KEY})", billed=True, logged_in=True)
    try:
        login = msgspec.json.decode(files.get(LOGIN, b"{}"), type=_Login)
    except UNREADABLE:
        return Account(name=f"nobody knows: {LOGIN} cannot be read")
    if login.tokens is not None and login.tokens.access_token:
        plan = _plan(login.tokens.id_token)
        name = f"a ChatGPT subscription ({plan})" if plan else "a ChatGPT subscription"
        return Account(name=name, billed=False, logged_in=True)
    if login.key:
        return Account(name=f"an OpenAI API key ({LOGIN})", billed=True, logged_in=True)
    if config.get("cli_auth_credentials_store") in ("keyring", "auto"):
        # Entries there belong to the configuration folder, and a session has one of its own.
        return Account(name="the login in the keyring, if it can be reached")
    return Account(name="nobody: not logged in", logged_in=False)


def _config(data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}  # Codex says what is wrong with it


def _provider(env: Mapping[str, str], config: Mapping[str, Any]) -> Account | None:
    """None where it is OpenAI itself."""
    name = config.get("model_provider")
    providers = config.get("model_providers")
    if not isinstance(name, str) or not isinstance(providers, dict):
        return None
    provider = providers.get(name)
    if not isinstance(provider, dict) or provider.get("requires_openai_auth") is True:
        return None
    key = provider.get("env_key")
    return Account(
        name=f"the provider {one_line(name, 40)} of {PROVIDERS}",
        logged_in=bool(env.get(key)) if isinstance(key, str) else None,
    )


def _plan(token: str) -> str:
    """What a token says about the subscription; it is not checked, only shown."""
    try:
        part = token.split(".")[1]
        claims: Any = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        plan = claims[CLAIM]["chatgpt_plan_type"]
    except (*UNREADABLE, binascii.Error, IndexError, KeyError, TypeError, ValueError):
        return ""
    return one_line(plan, 40) if isinstance(plan, str) else ""
