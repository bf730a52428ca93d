"""Rules: each one opens a door in the wall around sessions; without it, what it names is closed."""

from collections.abc import Mapping
from typing import Final

import msgspec

from ralph.core.errors import UsageError


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs together: a tool's folders, programs, variables and sockets."""

    write: tuple[str, ...] = ()
    """Hidden without the rule, writable with it."""
    read: tuple[str, ...] = ()
    """Hidden without the rule, readable with it."""
    bins: tuple[str, ...] = ()
    """Programs that cannot be started without the rule."""
    env: tuple[str, ...] = ()
    """Variables, or patterns, that are not passed on without the rule."""
    sockets: tuple[str, ...] = ()
    """Reachable with the rule only; `$NAME` is the value of a variable."""


RULES: Final[Mapping[str, Rule]] = {
    "aws": Rule(write=("~/.aws",), bins=("aws",), env=("AWS_*",)),
    "gcloud": Rule(
        write=("~/.config/gcloud",),
        bins=("gcloud", "gsutil", "bq"),
        env=("CLOUDSDK_*", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    "kubectl": Rule(write=("~/.kube",), bins=("kubectl", "helm"), env=("KUBECONFIG",)),
    "docker": Rule(
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
    "ssh": Rule(
        write=("~/.ssh",),
        bins=("ssh", "scp", "sftp", "ssh-add"),
        env=("SSH_AUTH_SOCK", "SSH_AGENT_PID"),
        sockets=("$SSH_AUTH_SOCK",),
    ),
    "gh": Rule(write=("~/.config/gh",), bins=("gh",), env=("GH_*", "GITHUB_TOKEN")),
    # npm itself is how projects are built, so it cannot be blocked: what publishes is the login.
    "npm-publish": Rule(read=("~/.npmrc",), env=("NPM_TOKEN", "NODE_AUTH_TOKEN")),
}


def all_rules(own: Mapping[str, Rule]) -> dict[str, Rule]:
    """The rules that there are; a person's own one adds to the one of the same name."""
    return {**RULES, **{name: _joined(RULES.get(name, Rule()), rule) for name, rule in own.items()}}


def _joined(ours: Rule, theirs: Rule) -> Rule:
    fields = {
        name: (*getattr(ours, name), *getattr(theirs, name)) for name in Rule.__struct_fields__
    }
    return Rule(**fields)


def check_rules(allowed: tuple[str, ...], rules: Mapping[str, Rule]) -> None:
    """Refuse names that open nothing: whoever wrote them believes that they do."""
    for name in allowed:
        if name not in rules:
            raise UsageError(
                f"there is no sandbox rule {name!r}; there are: {', '.join(sorted(rules))}",
                hint=f"[sandbox.rules.{name}] in .ralph.toml makes one",
            )
