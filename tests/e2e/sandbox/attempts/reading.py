"""Reading what is hidden."""

import json
import os
from collections.abc import Callable

from common import World, attempt


def _secret(name: str) -> Callable[[World], str]:
    def read(w: World) -> str:
        with open(f"{w['home']}/{w['secrets'][name]}") as file:
            return file.read()

    read.__name__ = f"secret_{name}"
    return read


for _name in (
    "ssh", "aws", "kube", "gcloud", "netrc", "claude", "codex", "factory", "docker", "npm", "gh",
):  # fmt: skip
    attempt(_secret(_name))


@attempt
def secret_by_proc(w: World) -> str:
    with open(f"/proc/self/root{w['home']}/.ssh/id_ed25519") as file:
        return file.read()


@attempt
def secret_by_link(w: World) -> str:
    os.symlink(f"{w['home']}/.aws", f"{w['project']}/aws-link")
    with open(f"{w['project']}/aws-link/credentials") as file:
        return file.read()


@attempt
def secret_by_hard_link(w: World) -> str:
    os.link(f"{w['home']}/.netrc", f"{w['project']}/netrc")
    with open(f"{w['project']}/netrc") as file:
        return file.read()


@attempt
def secret_in_environment(w: World) -> str:
    return json.dumps(dict(os.environ))


@attempt
def system_passwords(w: World) -> str:
    with open("/etc/shadow") as file:
        return f"read {len(file.read())} bytes of passwords"
