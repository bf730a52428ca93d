"""What a session inherits, and what it does not."""

import pytest

from ralph.core.session_environment import inherited_variables

SECRETS = [
    *("GH_TOKEN", "TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "npm_config__authToken", "npm_config__auth"),
    *("SECRET_KEY", "STRIPE_SECRET_KEY", "CLIENT_SECRET", "API_KEY", "stripe_api_key", "DBAPIKEY"),
    *("PGPASSWORD", "DB_PASSWORD", "MYSQL_PWD", "VAULT_PASS", "GPG_PASSPHRASE", "ROOT_PASSWD"),
    *("AWS_ACCESS_KEY_ID", "DEPLOY_PRIVATE_KEY", "ANTHROPIC_BASE_URL", "OPENAI_ORG_ID"),
    *("GH_PAT", "FOO_CREDENTIALS"),
]
HARMLESS = [
    *("PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "LANG", "TERM", "EDITOR", "COMPASS"),
    *("GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL", "GIT_SSH_COMMAND"),
    *("TOKENIZERS_PARALLELISM", "KEYBOARD", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HTTPS_PROXY"),
]
ENCLOSING = [
    *("CLAUDECODE", "CLAUDE_CODE_SSE_PORT", "CLAUDE_EFFORT", "CODEX_SANDBOX", "CODEX_THREAD_ID"),
    *("COPILOT_CLI", "PI_SESSION_ID"),
    *("FACTORY_APPEND_SYSTEM_PROMPT", "RALPH_TASK_ID", "GIT_DIR", "GIT_INDEX_FILE", "GIT_EDITOR"),
    *("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_VALUE_0"),
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_likely_secret_is_dropped_and_named(name: str) -> None:
    assert inherited_variables({name: "x"}, ()) == ({}, (name,))
    assert inherited_variables({name: "x"}, (name,)) == ({name: "x"}, ())


@pytest.mark.parametrize("name", HARMLESS)
def test_what_harms_nobody_is_kept(name: str) -> None:
    assert inherited_variables({name: "x"}, ()) == ({name: "x"}, ())


@pytest.mark.parametrize("name", ENCLOSING)
def test_what_belongs_to_an_enclosing_session_is_left_out_without_a_word(name: str) -> None:
    assert inherited_variables({name: "x"}, ()) == ({}, ())


def test_what_an_agent_says_decides_who_pays_is_dropped_and_named() -> None:
    environ = {"CLAUDE_CODE_USE_BEDROCK": "1", "MY_MODEL_LICENCE": "x"}
    assert inherited_variables(environ, (), tuple(environ)) == ({}, tuple(environ))
    assert inherited_variables(environ, ("MY_*",), tuple(environ))[0] == {"MY_MODEL_LICENCE": "x"}
