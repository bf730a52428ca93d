"""Rules, one by one: each allows what it names, and nothing else."""

import json
import os
from collections.abc import Iterator

import pytest

from ralph.core.hidden_paths import BUILTIN_ALLOW_RULES
from tests.e2e.sandbox.world import SECRET, SECRETS, World, a_world

OPENS = {
    "aws": ("aws", True),
    "gcloud": ("gcloud", True),
    "kubectl": ("kube", True),
    "docker": ("docker", True),
    "ssh": ("ssh", True),
    "gh": ("gh", True),
    "npm-publish": ("npm", False),
}
"""Which secret a rule opens, and whether it can be written then."""
PROGRAMS = sorted({name for rule in BUILTIN_ALLOW_RULES.values() for name in rule.bins})


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world("user") as made:
        for name in PROGRAMS:
            if name != "kubectl":
                program = made.write(made.bin / name, "#!/bin/sh\necho ran\n")
                program.chmod(0o755)
        made.give()
        yield made


def _inside(world: World, *flags: str, script: str, **env: str) -> str:
    done = world.ralph("sandbox", "run", *flags, "--", "sh", "-c", script, check=False, **env)
    return done.stdout


def test_every_rule_is_tried() -> None:
    assert OPENS.keys() == BUILTIN_ALLOW_RULES.keys()


@pytest.mark.parametrize("rule", OPENS)
def test_a_rule_opens_its_folder_and_no_other(world: World, rule: str) -> None:
    own, may_write = OPENS[rule]
    script = "; ".join(f"cat ~/{path} 2> /dev/null" for path in SECRETS.values())
    folder = os.path.dirname(SECRETS[own])
    script += f"; test -n '{folder}' && touch ~/{folder}/made && echo written"
    said = _inside(world, "--allow", rule, script=script)
    opened = [name for name, path in SECRETS.items() if f"{SECRET} {path}\n" in said]
    assert opened == [own]
    assert ("written" in said) is may_write


@pytest.mark.parametrize("rule", OPENS)
def test_a_rule_opens_its_programs_and_no_others(world: World, rule: str) -> None:
    script = "; ".join(f"{name} > /dev/null 2>&1 && echo {name}" for name in PROGRAMS)
    said = _inside(world, "--allow", rule, script=script)
    assert sorted(said.split()) == sorted(BUILTIN_ALLOW_RULES[rule].bins)


@pytest.mark.parametrize("rule", OPENS)
def test_a_rule_opens_its_variables_and_no_others(world: World, rule: str) -> None:
    names = {
        one: [name.replace("*", "X") for name in BUILTIN_ALLOW_RULES[one].env]
        for one in BUILTIN_ALLOW_RULES
    }
    env = {name: "set" for some in names.values() for name in some}
    script = "env | grep =set$ | cut -d= -f1"
    said = _inside(world, "--allow", rule, script=script, **env).split()
    assert sorted(said) == sorted(names[rule])


CONNECT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as client:
    client.connect(sys.argv[1])
    client.sendall(b"hello?")
    print(client.recv(100).decode())
"""


@pytest.mark.parametrize(("rule", "is_open"), [("docker", True), ("aws", False)])
def test_a_rule_opens_its_socket(world: World, rule: str, is_open: bool) -> None:  # noqa: FBT001
    path = f"{world.home}/.docker/run/docker.sock"
    argv = ("sandbox", "run", "--allow", rule, "--", "python3", "-c", CONNECT, path)
    assert ("hello" in world.ralph(*argv, check=False).stdout) is is_open


@pytest.mark.parametrize(("rule", "is_open"), [("ssh", True), ("gh", False)])
def test_the_keeper_of_keys_is_reached_by_its_rule(
    world: World,
    rule: str,
    is_open: bool,  # noqa: FBT001
) -> None:
    """Wherever its socket is: in /tmp, as a rule."""
    path = f"/tmp/{world.tag}.sock"
    argv = ("sandbox", "run", "--allow", rule, "--", "python3", "-c", CONNECT, path)
    done = world.ralph(*argv, check=False, SSH_AUTH_SOCK=path)
    assert ("hello" in done.stdout) is is_open


def test_a_persons_own_rule_works_like_ours(world: World) -> None:
    script = "cat ~/.deploy/key; deploy-tool; echo key=$DEPLOY_KEY"
    assert _inside(world, script=script) == "key=\n"
    said = _inside(world, "--allow", "deploy", script=script)
    assert said.splitlines() == [
        f"{SECRET} .deploy/key",
        "ran, though it is blocked",
        f"key={SECRET}",
    ]


def test_a_path_is_opened_and_nothing_beside_it(world: World) -> None:
    shared = world.base / "shared"
    for folder in (shared / "one", shared / "two"):
        folder.mkdir(parents=True, exist_ok=True)
    world.give()
    flags = ("--allow-write", str(shared / "one"), "--allow-read", f"{world.home}/.netrc")
    script = f"touch {shared}/one/x {shared}/two/x; cat ~/.netrc ~/.npmrc"
    assert _inside(world, *flags, script=script) == f"{SECRET} .netrc\n"
    assert (shared / "one/x").exists()
    assert not (shared / "two/x").exists()


LOOK = """
import json, os, sys
def can(path):
    for how, answer in (("r+b", "write"), ("rb", "read")):
        try:
            if not os.path.isdir(path):
                open(path, how).close()
                return answer
            if os.access(path, os.W_OK) if answer == "write" else os.listdir(path):
                return answer
        except OSError:
            continue
    return "hide"
print(json.dumps({path: can(path) for path in json.loads(sys.argv[1])}))
"""


def test_what_is_shown_is_what_holds(world: World) -> None:
    """Every place that `ralph sandbox show` names is tried."""
    shown = json.loads(world.ralph("sandbox", "show", "--json").stdout)
    places = [place for place in shown["places"] if place["exists"] and "…" not in place["path"]]
    paths = json.dumps([place["path"] for place in places])
    argv = ("sandbox", "run", "--", "python3", "-c", LOOK, paths)
    found = json.loads(world.ralph(*argv).stdout)
    # In the session folder everything can be made, and only documents are taken over.
    found.pop(f"{world.project}/.ralph")
    wrong = {
        place["path"]: (place["access"], found[place["path"]])
        for place in places
        if place["path"] in found
        and found[place["path"]] != place["access"]
        and not (place["access"] == "read" and found[place["path"]] == "hide")
    }
    broad = {"/", "/root", "/home", str(world.home), f"{world.project}/.git/ralph"}
    assert wrong.keys() <= broad, "there are folders, and in them only what is listed"
    assert set(wrong.values()) <= {("hide", "read")}
