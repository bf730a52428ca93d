"""Recognize files that are likely to hold a secret. Ralph does not commit them.

A mistake here costs a person one `git add`; the other mistake costs them a key.
"""

import re
from fnmatch import fnmatchcase
from typing import Final

SECRET_NAMES: Final = str.split("""
    .env .env.* *.env id_rsa id_dsa id_ecdsa id_ed25519 *.pem *.ppk *.p12 *.pfx *.jks *.keystore
    *.kdbx .netrc _netrc .pgpass .htpasswd .git-credentials .pypirc .vault-token
""")
"""By the last part of a path, in lower case."""

SECRET_PATHS: Final = ("*.aws/credentials", "*.docker/config.json", "*.kube/config")

HARMLESS_NAMES: Final = str.split("""
    *.example *.sample *.template *.tmpl *.dist *.defaults *.pub example.env sample.env template.env
""")
"""They say what is wanted, with nothing in it."""

PRIVATE_KEY: Final = r"-----BEGIN [A-Z ]*PRIVATE KEY"

TOKENS: Final = {
    "an AWS key": r"AKIA[0-9A-Z]{16}",
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60}",
    "a GitLab token": r"glpat-[A-Za-z0-9_-]{20}",
    "an Anthropic key": r"sk-ant-[a-z0-9]{3,8}-[A-Za-z0-9_-]{40}",
    "an OpenAI key": r"sk-(proj|svcacct|admin)-[A-Za-z0-9_-]{40}|sk-[A-Za-z0-9]{48}",
    "a Slack token": r"xox[abeoprs]-[0-9A-Za-z-]{20}",
    "a Google key": r"AIza[0-9A-Za-z_-]{35}",
    "a Stripe key": r"[rs]k_live_[0-9A-Za-z]{24}",
    "an npm token": r"npm_[A-Za-z0-9]{36}",
    "a PyPI token": r"pypi-AgEI[A-Za-z0-9_-]{50}",
    "a Hugging Face token": r"hf_[A-Za-z]{34}",
    "a SendGrid key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
}
"""What keys look like whose owners gave them a shape of their own. Guessing by entropy would take
every hash in a lock file for a password. POSIX and Python read these alike: git looks with them."""

SIGNS: Final = f"{PRIVATE_KEY}|{'|'.join(TOKENS.values())}"
"""All of them in one, to find the few files worth a closer look."""

_KINDS: Final = {"a private key": PRIVATE_KEY, **TOKENS}
_COMPILED: Final = {what: re.compile(sign.encode()) for what, sign in _KINDS.items()}
_PLACEHOLDERS: Final = re.compile(rb"(?i)example|sample|dummy|fake|xxxx|0000|1234567|test")
_PUBLIC: Final = re.compile(rb"-----BEGIN (CERTIFICATE|PUBLIC KEY|X509 CRL)")


def suspicious_name(path: str) -> bool:
    """Is that what people call a file of secrets?"""
    lower = path.lower()
    name = lower.rpartition("/")[2]
    if any(fnmatchcase(name, pattern) for pattern in HARMLESS_NAMES):
        return False
    return any(fnmatchcase(name, pattern) for pattern in SECRET_NAMES) or any(
        fnmatchcase(lower, pattern) for pattern in SECRET_PATHS
    )


def secret_in(path: str, content: bytes, before: bytes | None) -> str | None:
    """Why the file looks like a secret, in a few words; None if it does not.

    `before` is what git has of it already: a name or a key that was committed long ago is no news.
    """
    if before is None and suspicious_name(path) and content.strip() and not _is_public(content):
        return "its name is one for secrets"
    for what, sign in _COMPILED.items():
        for found in sign.finditer(content):
            key = found.group()
            if before is not None and key in before:
                continue
            if what == "a private key" or not _PLACEHOLDERS.search(key):
                return f"it holds what looks like {what}"
    return None


def _is_public(content: bytes) -> bool:
    """A certificate is public, whatever its file is called."""
    return _PUBLIC.search(content) is not None and not _COMPILED["a private key"].search(content)
