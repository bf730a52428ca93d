"""Who pays for a session of Droid."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ralph.adapters.agents.lines import UNREADABLE
from ralph.ports.agent import Account

KEY: Final = "FACTORY_API_KEY"
MODELS: Final = "settings.json"
OLD_MODELS: Final = "config.json"
LOGINS: Final = (
    "auth.v2.file",
    "auth.v2.key",
    "auth.v2.keyring",
    "auth.v2.loginkeychain",
    "auth.encrypted",
    "auth.json",
)


class _Settings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    custom_models: list[Any] = []


class _Config(msgspec.Struct, frozen=True, kw_only=True):
    custom_models: list[Any] = []


def payer(env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:
    """The key in the environment, else the login, else the models that a person has set up."""
    if env.get(KEY):
        return Account(name=f"a Factory account ({KEY})", logged_in=True)
    if any(name in files for name in LOGINS):
        return Account(name="a Factory account", logged_in=True)
    if _own(files.get(MODELS, b""), _Settings) or _own(files.get(OLD_MODELS, b""), _Config):
        return Account(name=f"the keys of your own models ({MODELS})", logged_in=True)
    return Account(name="nobody: not logged in", logged_in=False)


def _own(data: bytes, kind: type[_Settings] | type[_Config]) -> bool:
    try:
        return bool(msgspec.json.decode(data, type=kind).custom_models)
    except UNREADABLE:
        return False
