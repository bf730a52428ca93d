"""How each of the real agents is led to the scripted model: what a person would have set up."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import pytest

KEY: Final = "not-a-key"


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent needs to find its model, beyond what it finds by itself."""

    name: str
    model: str
    pass_env: tuple[str, ...] = ()
    prepare: Callable[[Path, str], dict[str, str]]
    """Writes into a home directory, for a model at this address; returns variables."""

    @property
    def model_asked(self) -> str:
        """The model by the name that reaches the provider."""
        return self.model.removeprefix("custom:").removeprefix("scripted/")


def _claude(home: Path, url: str) -> dict[str, str]:
    del home
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}


def _subscription(home: Path, url: str) -> dict[str, str]:
    del home
    return {"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_OAUTH_TOKEN": KEY}


CODEX: Final = """\
model_provider = "scripted"
[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 1
stream_max_retries = 1
"""


def _codex(home: Path, url: str) -> dict[str, str]:
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CODEX.format(url=url))
    return {"SCRIPTED_API_KEY": KEY}


def _droid(home: Path, url: str) -> dict[str, str]:
    folder = home / ".factory"
    folder.mkdir()
    model = {
        "model": "scripted",
        "displayName": "Scripted",
        "baseUrl": url,
        "apiKey": KEY,
        "provider": "anthropic",
        "maxOutputTokens": 8192,
    }
    (folder / "settings.json").write_text(json.dumps({"customModels": [model]}))
    # Without it, it reports to its maker at its end, and waits for that.
    return {"FACTORY_AIRGAP_ENABLED": "1"}


def _copilot(home: Path, url: str) -> dict[str, str]:
    del home
    program = shutil.which("copilot")
    assert program, "tools/agent-clis installs it"
    (unpacked,) = Path(program).parents[1].glob(".cache/copilot/pkg/*/*")
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        # Else it would unpack itself into the cache of every test.
        "COPILOT_CLI_DIST_DIR": str(unpacked),
    }


def _pi(home: Path, url: str) -> dict[str, str]:
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True)
    provider = {
        "baseUrl": url,
        "api": "anthropic-messages",
        "apiKey": KEY,
        "models": [{"id": "scripted", "contextWindow": 200_000, "maxTokens": 8192}],
    }
    (folder / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
    return {}


KIMI: Final = """\
default_model = "scripted"
[providers.scripted]
type = "openai"
base_url = "{url}/v1"
api_key = "{key}"
[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
"""


def _kimi(home: Path, url: str) -> dict[str, str]:
    folder = home / ".kimi-code"
    folder.mkdir()
    (folder / "config.toml").write_text(KIMI.format(url=url, key=KEY))
    return {}


SETUPS: Final = {
    "claude": Setup(
        name="claude",
        model="claude-sonnet-5",
        pass_env=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        prepare=_claude,
    ),
    "claude-subscription": Setup(
        name="claude",
        model="claude-sonnet-5",
        pass_env=("ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
        prepare=_subscription,
    ),
    "claude-sdk": Setup(
        name="claude-sdk",
        model="claude-sonnet-5",
        pass_env=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        prepare=_claude,
    ),
    "codex": Setup(name="codex", model="gpt-5.5", pass_env=("SCRIPTED_API_KEY",), prepare=_codex),
    "droid": Setup(name="droid", model="custom:scripted", prepare=_droid),
    "copilot": Setup(
        name="copilot",
        model="scripted",
        pass_env=("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_API_KEY"),
        prepare=_copilot,
    ),
    "kimi": Setup(name="kimi", model="scripted", prepare=_kimi),
    "pi": Setup(name="pi", model="scripted/scripted", prepare=_pi),
}

AGENTS: Final = (
    *("claude", "codex", "droid", "copilot", "pi"),
    *(pytest.param(name, marks=pytest.mark.agents) for name in ("kimi",)),
)
"""Where the ways of each of them are the point."""

CODEX_TOO: Final = pytest.param("codex", marks=pytest.mark.soak)
IN_SOAK: Final = (pytest.param("claude", marks=pytest.mark.soak), CODEX_TOO)
"""Where Ralph alone decides, and tests with a scripted agent show the same."""
MORE: Final = tuple(
    pytest.param(name, marks=pytest.mark.agents) for name in ("copilot", "pi", "kimi")
)
ONE_FOR_ALL: Final = (
    "claude",
    CODEX_TOO,
    pytest.param("droid", marks=pytest.mark.soak),
    *MORE,
)
"""Where Ralph does the same for all of them, and what they print is in the transcripts: a session
takes seconds, so `make soak` and `make test-agents` run the others."""
