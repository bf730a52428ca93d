"""Paths that stay hidden from sessions, and the named rules of `[sandbox] allow` that open some."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import asdict, replace

from ralph.core.errors import UsageError
from ralph.core.settings import RuleSection

KNOWN_STORES: Final = {
    "keys": """
        ~/.gnupg, ~/.netrc, ~/.git-credentials, ~/.config/git/credentials, ~/.password-store,
        ~/.local/share/keyrings, ~/.local/share/kwalletd, ~/.config/keepassxc, ~/.config/op,
        ~/.config/1Password, ~/.config/sops, ~/.config/age, ~/.vault-token, ~/.pgpass, ~/.my.cnf,
        ~/.config/rclone, ~/.pki, ~/Library/Keychains, ~/.config/Bitwarden CLI
    """,
    "logins to clouds and registries": """
        ~/.azure, ~/.oci, ~/.config/doctl, ~/.config/hcloud, ~/.config/linode-cli, ~/.config/stripe,
        ~/.config/heroku, ~/.config/netlify, ~/.config/.wrangler, ~/.local/share/com.vercel.cli,
        ~/.fly, ~/.pulumi/credentials.json, ~/.terraform.d/credentials.tfrc.json, ~/.terraformrc,
        ~/.databrickscfg, ~/.snowflake, ~/.s3cfg, ~/.boto, ~/.kaggle, ~/.huggingface,
        ~/.cache/huggingface/token, ~/.pypirc, ~/.cargo/credentials, ~/.cargo/credentials.toml,
        ~/.gem/credentials, ~/.composer/auth.json, ~/.config/composer/auth.json, ~/.m2/settings.xml,
        ~/.m2/settings-security.xml, ~/.gradle/gradle.properties, ~/.nuget/NuGet/NuGet.Config,
        ~/.yarnrc.yml, ~/.config/containers/auth.json, ~/.config/hub, ~/.config/glab-cli
    """,
    "histories, in which passwords end up": """
        ~/.bash_history, ~/.zsh_history, ~/.zsh_sessions, ~/.local/share/fish/fish_history,
        ~/.python_history, ~/.psql_history, ~/.mysql_history, ~/.sqlite_history,
        ~/.rediscli_history, ~/.node_repl_history
    """,
    "the system's passwords": """
        /etc/shadow, /etc/shadow-, /etc/gshadow, /etc/gshadow-, /etc/sudoers, /etc/sudoers.d,
        /etc/ssl/private, /etc/ssh/ssh_host_ecdsa_key, /etc/ssh/ssh_host_ed25519_key,
        /etc/ssh/ssh_host_rsa_key, /etc/krb5.keytab, /etc/wireguard, /etc/letsencrypt,
        /etc/kubernetes, /etc/rancher, /etc/NetworkManager/system-connections, /var/lib/kubelet,
        /var/lib/cloud
    """,
}
HIDDEN: Final = {
    why: tuple(path.strip() for path in paths.split(",")) for why, paths in KNOWN_STORES.items()
}
"""Known stores, by the reason for which they are hidden, also in a folder that a person opens."""

AGENT_SETTINGS_FOLDERS: Final = (".claude", ".codex", ".factory")
"""Folders that steer agents, wherever one is started: what is planted there runs then."""

AGENT_SETTINGS_FILES: Final = (".mcp.json",)
"""The same, as files."""

RALPH_SETTINGS: Final = ([".ralph.toml"], [".ralph", "config.sh"], [".agents", "ralph"])
"""What Ralph obeys in a project: files, and a folder."""


def settings_root(path: str) -> str | None:
    """The folder of the project whose settings that is; None if it is no settings of Ralph. Some
    file systems ignore case."""
    parts = path.split("/")
    lower = [part.casefold() for part in parts]
    if all(name[0] not in lower for name in RALPH_SETTINGS):
        return None
    for at in range(len(parts)):
        if any(lower[at : at + len(name)] == name for name in RALPH_SETTINGS):
            return "/".join(parts[:at])
    return None


def is_agent_settings(path: str) -> bool:
    """Is it settings that an agent obeys, in whatever folder?"""
    parts = path.casefold().split("/")
    return parts[-1] in AGENT_SETTINGS_FILES or any(
        name in parts for name in AGENT_SETTINGS_FOLDERS
    )


ALL_AGENT_SETTINGS_FOLDERS: Final = (
    *AGENT_SETTINGS_FOLDERS,
    *(".cursor", ".gemini"),
    *(".vscode", ".idea", ".zed", ".helix", ".fleet", ".mise"),
)
"""At the top of a project: also of editors, which open it there. Theirs may name the git to run."""

ALL_AGENT_SETTINGS_FILES: Final = (
    *AGENT_SETTINGS_FILES,
    *(".envrc", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml"),
    *(".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"),
)
"""The same, as files; also what a shell or an editor obeys when it enters the folder."""

DESKTOP: Final = (
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "GPG_AGENT_INFO"),
)
"""Variables that lead to a person's own programs."""


# Rules that a person allows


class AllowRule(RuleSection, frozen=True, kw_only=True):
    """The folders, programs, variables and sockets of one tool."""

    sockets: tuple[str, ...] = ()
    """Reachable with the rule only; `$NAME` is the value of a variable."""


BUILTIN_ALLOW_RULES: Final[Mapping[str, AllowRule]] = {
    "aws": AllowRule(write=("~/.aws",), bins=("aws",), env=("AWS_*",)),
    "gcloud": AllowRule(
        write=("~/.config/gcloud",),
        bins=("gcloud", "gsutil", "bq"),
        env=("CLOUDSDK_*", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    "kubectl": AllowRule(write=("~/.kube",), bins=("kubectl", "helm"), env=("KUBECONFIG",)),
    "docker": AllowRule(
        write=("~/.docker",),
        bins=("docker", "docker-compose", "podman"),
        env=("DOCKER_*",),
        sockets=(
            "/var/run/docker.sock",
            "~/.docker/run/docker.sock",
            "$XDG_RUNTIME_DIR/docker.sock",
            "$XDG_RUNTIME_DIR/podman/podman.sock",
        ),
    ),
    "ssh": AllowRule(
        write=("~/.ssh",),
        bins=("ssh", "scp", "sftp", "ssh-add"),
        env=("SSH_AUTH_SOCK", "SSH_AGENT_PID"),
        sockets=("$SSH_AUTH_SOCK",),
    ),
    "gh": AllowRule(write=("~/.config/gh",), bins=("gh",), env=("GH_*", "GITHUB_TOKEN")),
    # npm itself is how projects are built, so it cannot be blocked: what publishes is the login.
    "npm-publish": AllowRule(read=("~/.npmrc",), env=("NPM_TOKEN", "NODE_AUTH_TOKEN")),
}


def all_allow_rules(own: Mapping[str, RuleSection]) -> dict[str, AllowRule]:
    rules = dict(BUILTIN_ALLOW_RULES)
    for name, theirs in own.items():
        ours = rules.get(name, AllowRule())
        more = {key: (*getattr(ours, key), *value) for key, value in asdict(theirs).items()}
        rules[name] = replace(ours, **more)
    return rules


def check_rule_names(allowed: tuple[str, ...], rules: Mapping[str, AllowRule]) -> None:
    """Raise an error for a rule name that does not exist."""
    for name in allowed:
        if name not in rules:
            raise UsageError(
                f"there is no sandbox rule {name!r}; there are: {', '.join(sorted(rules))}",
                hint=f"[sandbox.rules.{name}] in .ralph.toml makes one",
            )


LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?"
NAME: Final = re.compile(rf"(?:\*\.)?{LABEL}(?:\.{LABEL})*\.?(?::[0-9]{{1,5}})?")
ADDRESS: Final = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")


def check_domains(domains: tuple[str, ...]) -> None:
    """Raise an error for a name that could never match a domain."""
    for domain in domains:
        if not (NAME.fullmatch(domain) or ADDRESS.fullmatch(domain)):
            raise UsageError(
                f"{domain!r} is no domain", hint="write example.com, *.example.com or x.com:8443"
            )
