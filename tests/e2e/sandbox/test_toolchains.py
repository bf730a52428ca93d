"""A home is hidden, and yet what is installed in it works: as root, as a user, by each wall."""

import json
import os
from pathlib import Path

import pytest

from tests.e2e.ralph_process import RALPH
from tests.e2e.sandbox.world import PYTHON, SECRET, USERS, World, a_world

HELLO = '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/words"\n'
STORES = (".unknown/token", "Documents/taxes.txt", ".local/share/app/login", ".config/app/key")


def _program(world: World, path: Path, words: str) -> Path:
    """Installed like any other: it needs what lies beside its folder."""
    world.write(path, HELLO).chmod(0o755)
    world.write(path.parent.parent / "lib/words", words)
    return path


def _furnish(world: World) -> str:
    """Programs in the home; returns the PATH."""
    home = world.home
    for store in STORES:
        world.write(home / store, SECRET)
    _program(world, home / ".acme/bin/by-path", "from a folder of the PATH\n")
    world.write(home / ".acme/token", SECRET)
    world.write(home / ".acme/credentials/key", SECRET)
    tool = _program(world, home / ".local/share/uv/tools/tool-2/bin/by-link", "behind links\n")
    (home / ".local/share/uv/tools/tool").symlink_to("tool-2")
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/by-link").symlink_to(home / ".local/share/uv/tools/tool/bin" / tool.name)
    other = _program(world, home / "apps/deep/app/bin/by-app", "of an app\n")
    (home / ".local/bin/by-app").symlink_to(other)
    world.write(home / "apps/deep/app/private-notes", SECRET)
    venv = home / "environments/app"
    world.write(venv / "pyvenv.cfg", f"home = {Path(PYTHON).parent}\n")
    world.write(venv / "lib/words", "of an environment\n")
    world.write(venv / "bin/by-script", f"#!{venv}/bin/python\nprint('by its interpreter')\n")
    (venv / "bin/by-script").chmod(0o755)
    (venv / "bin/python").symlink_to(PYTHON)
    (home / ".local/bin/by-script").write_text((venv / "bin/by-script").read_text())
    (home / ".local/bin/by-script").chmod(0o755)
    (world.project / ".venv").symlink_to(venv)
    world.give()
    return f"{home}/.acme/bin:{home}/.local/bin:{world.env['PATH']}"


@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("user", USERS)
def test_programs_in_the_home_work_and_nothing_else_is_seen(user: str, use: str) -> None:
    with a_world(user, use=use) as world:
        path = _furnish(world)
        script = (
            "by-path; by-link; by-app; by-script; .venv/bin/python -c 'print(\"of a link\")';"
            " for file in ~/.acme/token ~/.acme/credentials/key ~/apps/deep/app/private-notes "
            + " ".join(f"~/{store}" for store in STORES)
            + '; do if cat "$file"; then echo "sees $file"; fi; done; ls -A ~'
        )
        done = world.sandboxed("sh", "-c", script, PATH=path)
        words = "from a folder of the PATH,behind links,of an app,by its interpreter,of a link"
        assert done.stdout.splitlines()[:5] == words.split(","), done.stderr
        assert SECRET not in done.stdout
        assert "sees " not in done.stdout
        assert not {".unknown", "Documents", ".ssh"} & set(done.stdout.split())


def test_every_visible_path_says_why() -> None:
    with a_world("user") as world:
        shown = world.ralph("sandbox", "show", "--json", PATH=_furnish(world)).stdout
        places = {place["path"]: place for place in json.loads(shown)["places"]}
        assert all(place["why"] for place in places.values())
        folder = f"{world.home}/.acme/bin"
        assert places[folder]["why"] == "on your PATH"
        assert places[f"{world.home}/.acme/lib"]["why"] == f"programs in {folder}, on your PATH"
        link = f"{world.home}/.local/bin/by-app"
        assert places[f"{world.home}/apps/deep/app/bin"]["why"] == f"{link} leads there"
        assert places[str(world.home)]["access"] == "hide"
        assert not [path for path in places if "private-notes" in path or ".unknown" in path]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could read it anyway")
@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
def test_a_session_of_root_sees_of_the_system_what_everybody_sees(use: str) -> None:
    with a_world("root", use=use) as world:
        key = Path("/etc", world.tag)
        key.write_text(SECRET)
        key.chmod(0o600)
        done = world.sandboxed("sh", "-c", f"cat {key}; cat /etc/passwd")
        assert SECRET not in done.stdout
        assert "root:" in done.stdout


def test_what_a_person_opens_is_seen() -> None:
    with a_world("user") as world:
        world.write(world.home / "data/set", "opened\n")
        world.write(world.home / ".netrc", SECRET)
        world.give()
        run = (
            "sandbox",
            "run",
            "--allow-read",
            "~/data",
            "--",
            "cat",
            str(world.home / "data/set"),
        )
        assert world.ralph(*run).stdout == "opened\n"
        everything = (
            "sandbox",
            "run",
            "--allow-read",
            "~",
            "--",
            "sh",
            "-c",
            "cat ~/.netrc ~/data/*",
        )
        done = world.ralph(*everything, check=False)
        assert done.stdout == "opened\n", "known stores stay hidden in it"


def test_a_link_that_a_session_planted_opens_nothing() -> None:
    with a_world("user") as world:
        world.write(world.home / "Documents/lib/python3.11/os", SECRET)
        world.write(world.home / "Documents/bin/note", SECRET)
        world.give()
        plant = (
            "ln -s ~/Documents .venv; mkdir -p bin venv/bin; ln -s ~/Documents/bin/note bin/note;"
            " touch venv/pyvenv.cfg; ln -s ~/Documents/bin/note venv/bin/python;"
            " mkdir -p .git/objects/info; echo ~/Documents > .git/objects/info/alternates"
        )
        world.sandboxed("sh", "-c", plant)
        path = f"{world.project}/bin:{world.env['PATH']}"
        look = "cat .venv/bin/note bin/note venv/bin/python; ls ~/Documents"
        done = world.sandboxed("sh", "-c", look, PATH=path)
        assert SECRET not in done.stdout
        assert "lib" not in done.stdout


@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
def test_a_password_in_gits_settings_is_hidden_and_commits_have_their_author(use: str) -> None:
    settings = (
        '[user]\n\tname = Ann\n\temail = ann@example.com\n[url "https://ann:{0}@example.com/"]\n'
        "\tinsteadOf = https://example.com/\n"
    )
    with a_world("user", use=use) as world:
        for key in ("user.name", "user.email"):
            world.git(world.project, "config", "--unset", key)
        world.write(world.home / ".gitconfig", settings.format(SECRET))
        world.give()
        script = "cat ~/.gitconfig; git config --list; git commit -q --allow-empty -m inside"
        done = world.sandboxed("sh", "-c", script)
        assert SECRET not in done.stdout
        assert world.git(world.project, "log", "-1", "--format=%an %s") == "Ann inside\n"


def test_a_repository_that_borrows_objects_sees_them() -> None:
    with a_world("user") as world:
        other = world.home / "mirror"
        world.git(world.home, "clone", "-q", "--bare", str(world.project), str(other))
        clone = world.base / "clone"
        world.git(world.base, "clone", "-q", "--shared", str(other), str(clone))
        done = world.do(*(RALPH, "sandbox", "run", "--", "git", "log", "--format=%s"), cwd=clone)
        assert done.stdout == "first\n"
