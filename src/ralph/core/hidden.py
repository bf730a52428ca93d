"""What a session has no business with: other people's keys, and the sockets of a desktop."""

from typing import Final

HIDDEN: Final = {
    "keys": (
        "~/.gnupg",
        "~/.netrc",
        "~/.git-credentials",
        "~/.config/git/credentials",
        "~/.password-store",
        "~/.local/share/keyrings",
        "~/.vault-token",
        "~/.pgpass",
        "~/.my.cnf",
        "~/.config/rclone",
        "~/.config/op",
    ),
    "logins to clouds and registries": (
        "~/.azure",
        "~/.oci",
        "~/.config/doctl",
        "~/.config/hcloud",
        "~/.terraform.d/credentials.tfrc.json",
        "~/.pypirc",
        "~/.cargo/credentials",
        "~/.cargo/credentials.toml",
        "~/.gem/credentials",
        "~/.config/hub",
        "~/.config/glab-cli",
    ),
    "browsers and mail": (
        "~/.mozilla",
        "~/.thunderbird",
        "~/.config/google-chrome",
        "~/.config/chromium",
        "~/.config/BraveSoftware",
        "~/.config/microsoft-edge",
    ),
    "the screen": ("~/.Xauthority", "~/.ICEauthority"),
    "histories, in which passwords end up": (
        "~/.bash_history",
        "~/.zsh_history",
        "~/.python_history",
        "~/.psql_history",
        "~/.mysql_history",
        "~/.node_repl_history",
    ),
    "the system's passwords": (
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/gshadow-",
        "/etc/sudoers",
        "/etc/sudoers.d",
    ),
}
"""By the reason for which they are hidden."""

OTHER_AGENTS: Final = (
    "~/.claude",
    "~/.claude.json",
    "~/.claude.json.backup",
    "~/.config/claude",
    "~/.codex",
    "~/.factory",
    "~/.gemini",
    "~/.config/github-copilot",
    "~/.copilot",
    "~/.cursor",
    "~/.config/opencode",
    "~/.local/share/opencode",
)
"""Agents' own folders in a person's home: logins, histories, and hooks that would run outside."""

AGENT_SETTINGS: Final = (".claude", ".codex", ".factory")
"""Folders in a project that steer agents: what is planted there runs when a person starts one."""

AGENT_FILES: Final = (".mcp.json",)
"""The same, as files."""

DESKTOP: Final = (
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "GPG_AGENT_INFO",
)
"""Variables that lead to a person's own programs."""
