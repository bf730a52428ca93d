"""Which files look like secrets."""

import pytest

from ralph.core.secret_files import TOKENS, secret_in

KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n"
CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

# Put together here, so that nobody's scanner takes this file for a leak.
REAL = {
    "an AWS key": "AKIA" + "Z7QK2M4PWT9XN3BD",
    "a GitHub token": "ghp_" + "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2i",
    "a GitLab token": "glpat-" + "k3Jd82HsPq7LmNc5VbXz",
    "an Anthropic key": "sk-ant-api03-" + "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2iBnKs8",
    "an OpenAI key": "sk-proj-" + "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2iBnKs",
    "a Slack token": "xoxb-" + "884215730912-k3Jd82HsPq7",
    "a Google key": "AIza" + "SyB3kJd82HsPq7LmNc5VbXz9TgYw4RfEa6U",
    "a Stripe key": "sk_live_" + "k3Jd82HsPq7LmNc5VbXz9TgY",
    "an npm token": "npm_" + "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2i",
    "a PyPI token": "pypi-AgEI" + "cHlwaS5vcmcCJGk3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2iBn",
    "a Hugging Face token": "hf_" + "kJdHsPqLmNcVbXzTgYwRfEaUoQiBnKsWpM",
    "a SendGrid key": "SG."
    + "k3Jd82HsPq7LmNc5VbXz9T"
    + "."
    + "gYw4RfEa6UoQ2iBnKs8WpMk3Jd82HsPq7LmNc5VbXz9",
}


@pytest.mark.parametrize(
    "path",
    [".env", "api/.env.production", "prod.env", "keys/id_rsa", "server.pem", "a.P12", ".netrc"],
)
def test_some_names_are_enough(path: str) -> None:
    assert secret_in(path, b"A=1\n", None) == "its name is one for secrets"


@pytest.mark.parametrize(
    "path", [".env.example", ".env.sample", "id_rsa.pub", "env.py", "docs/environment.md", ".envs"]
)
def test_names_that_only_resemble_them_are_not(path: str) -> None:
    assert secret_in(path, b"A=1\n", None) is None


def test_an_empty_file_holds_no_secret() -> None:
    assert secret_in(".env", b"\n", None) is None


def test_what_was_committed_under_such_a_name_before_is_no_news() -> None:
    assert secret_in(".env", b"A=2\n", b"A=1\n") is None


def test_a_certificate_is_for_everybody() -> None:
    assert secret_in("ca.pem", CERTIFICATE, None) is None
    assert secret_in("both.pem", CERTIFICATE + KEY, None) is not None


def test_every_kind_of_token_has_an_example_here() -> None:
    assert REAL.keys() == TOKENS.keys()


@pytest.mark.parametrize("what", REAL)
def test_keys_are_known_by_their_shape_in_any_file(what: str) -> None:
    content = f"client = connect('{REAL[what]}')\n".encode()
    assert secret_in("src/app.py", content, None) == f"it holds what looks like {what}"


def test_a_private_key_is_known_by_its_first_line() -> None:
    assert secret_in("notes.txt", b"see:\n" + KEY, None) == "it holds what looks like a private key"


def test_placeholders_are_not_keys() -> None:
    for made_up in ("AKIAIOSFODNN7EXAMPLE", "ghp_" + "x" * 36, "sk_live_" + "0" * 24):
        assert secret_in("docs/setup.md", f"use {made_up}".encode(), None) is None


def test_a_key_that_git_has_already_is_no_news_but_a_new_one_beside_it_is() -> None:
    old, new = REAL["an npm token"].encode(), REAL["a GitLab token"].encode()
    assert secret_in("a.py", old + b" moved", old) is None
    assert secret_in("a.py", old + new, old) == "it holds what looks like a GitLab token"


def test_hashes_in_lock_files_are_not_keys() -> None:
    line = b"requests==2.32 --hash=sha256:70761cfe03c773ceb22aa2f671b4757976145175cdfca\n"
    assert secret_in("requirements.txt", line * 100, None) is None
