"""What stays hidden inside a folder that is visible: known stores of keys and logins."""

from typing import Final

HIDDEN: Final = {
    "keys": (
        "~/.gnupg",
        "~/.netrc",
        "~/.git-credentials",
        "~/.config/git/credentials",
        "~/.password-store",
        "~/.local/share/keyrings",
        "~/.local/share/kwalletd",
        "~/.config/keepassxc",
        "~/.config/op",
        "~/.config/1Password",
        "~/.config/Bitwarden CLI",
        "~/.config/sops",
        "~/.config/age",
        "~/.vault-token",
        "~/.pgpass",
        "~/.my.cnf",
        "~/.config/rclone",
        "~/.pki",
        "~/Library/Keychains",
    ),
    "logins to clouds and registries": (
        "~/.azure",
        "~/.oci",
        "~/.config/doctl",
        "~/.config/hcloud",
        "~/.config/linode-cli",
        "~/.config/stripe",
        "~/.config/heroku",
        "~/.config/netlify",
        "~/.config/.wrangler",
        "~/.local/share/com.vercel.cli",
        "~/.fly",
        "~/.pulumi/credentials.json",
        "~/.terraform.d/credentials.tfrc.json",
        "~/.terraformrc",
        "~/.databrickscfg",
        "~/.snowflake",
        "~/.s3cfg",
        "~/.boto",
        "~/.kaggle",
        "~/.huggingface",
        "~/.cache/huggingface/token",
        "~/.pypirc",
        "~/.cargo/credentials",
        "~/.cargo/credentials.toml",
        "~/.gem/credentials",
        "~/.composer/auth.json",
        "~/.config/composer/auth.json",
        "~/.m2/settings.xml",
        "~/.m2/settings-security.xml",
        "~/.gradle/gradle.properties",
        "~/.nuget/NuGet/NuGet.Config",
        "~/.yarnrc.yml",
        "~/.config/containers/auth.json",
        "~/.config/hub",
        "~/.config/glab-cli",
    ),
    "histories, in which passwords end up": (
        "~/.bash_history",
        "~/.zsh_history",
        "~/.zsh_sessions",
        "~/.local/share/fish/fish_history",
        "~/.python_history",
        "~/.psql_history",
        "~/.mysql_history",
        "~/.sqlite_history",
        "~/.rediscli_history",
        "~/.node_repl_history",
    ),
    "the system's passwords": (
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/gshadow-",
        "/etc/sudoers",
        "/etc/sudoers.d",
        "/etc/ssl/private",
        "/etc/ssh/ssh_host_ecdsa_key",
        "/etc/ssh/ssh_host_ed25519_key",
        "/etc/ssh/ssh_host_rsa_key",
        "/etc/krb5.keytab",
        "/etc/wireguard",
        "/etc/letsencrypt",
        "/etc/kubernetes",
        "/etc/rancher",
        "/etc/NetworkManager/system-connections",
        "/var/lib/kubelet",
        "/var/lib/cloud",
    ),
}
"""Known stores, by the reason for which they are hidden, also in a folder that a person opens."""

STEERING_FOLDERS: Final = (".claude", ".codex", ".factory")
"""Folders that steer agents, wherever one is started: what is planted there runs then."""

STEERING_FILES: Final = (".mcp.json",)
"""The same, as files."""

RALPH_SETTINGS: Final = ([".ralph.toml"], [".ralph", "config.sh"], [".agents", "ralph"])
"""What Ralph obeys in a project: files, and a folder."""


def obeyed_in(path: str) -> str | None:
    """The folder of the project whose settings that is; None if it is no settings of Ralph. Some
    file systems ignore case."""
    parts = path.split("/")
    lower = [part.casefold() for part in parts]
    for at in range(len(parts)):
        if any(lower[at : at + len(name)] == name for name in RALPH_SETTINGS):
            return "/".join(parts[:at])
    return None


def is_agents(path: str) -> bool:
    """Is it settings that an agent obeys, in whatever folder?"""
    parts = path.casefold().split("/")
    return parts[-1] in STEERING_FILES or any(name in parts for name in STEERING_FOLDERS)


AGENT_SETTINGS: Final = (*STEERING_FOLDERS, ".cursor", ".gemini", ".vscode")
"""At the top of a project: also of editors, which open it there."""

AGENT_FILES: Final = (*STEERING_FILES, ".envrc")
"""The same, as files."""

DESKTOP: Final = (
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "GPG_AGENT_INFO",
)
"""Variables that lead to a person's own programs."""
