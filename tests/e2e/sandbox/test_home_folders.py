"""A home and a checkout that are in each other's way."""

from pathlib import Path

import pytest

from tests.e2e.ralph_process import RALPH
from tests.e2e.sandbox.test_repositories import IDENTITY
from tests.e2e.sandbox.world import USERS, World, a_world


def _inside(world: World, folder: Path, script: str, **env: str) -> "tuple[int, str]":
    argv = (RALPH, "sandbox", "run", "--", "sh", "-c", script)
    done = world.do(*argv, cwd=folder, check=False, **env)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("user", USERS)
def test_a_home_in_the_checkout_stays_as_it_is(user: str) -> None:
    with a_world(user) as world:
        home = world.project / "home"
        world.write(home / ".bashrc", "# mine\n")
        world.write(home / ".ssh/id_ed25519", "a secret\n")
        world.give()
        script = (
            "echo planted >> ~/.bashrc; touch ~/.profile; cat ~/.ssh/id_ed25519;"
            " mv home away; echo cached > $XDG_CACHE_HOME/kept && echo x > new.txt && echo works"
        )
        code, said = _inside(world, world.project, script, HOME=str(home))
        assert code == 0, said
        assert "works" in said
        assert "a secret" not in said
        assert (home / ".bashrc").read_text() == "# mine\n"
        assert not (home / ".profile").exists()


def _repository(world: World, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    world.write(folder / ".ralph.toml", '[agent]\ncommand = "true"\n')
    world.give()
    world.git(folder, "init", "-q")


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("", "is your home, and what is planted there runs when you log in"),
        (".claude", "lies where sessions must not look"),
        (".ssh/keys", "lies where sessions must not look"),
    ],
)
def test_what_must_not_be_written_is_no_checkout(where: str, why: str) -> None:
    with a_world("user") as world:
        folder = world.home / where
        _repository(world, folder)
        code, said = _inside(world, folder, "touch planted")
        assert code == 69
        assert why in said
        assert "hint: " in said
        assert not (folder / "planted").exists()


def test_a_checkout_behind_a_link_is_the_same_checkout() -> None:
    with a_world("user") as world:
        link = world.base / "link"
        link.symlink_to(world.project)
        world.give()
        script = "echo x > new.txt; echo x >> .ralph.toml; echo x >> .git/config; touch ../planted"
        _inside(world, link, script)
        assert (world.project / "new.txt").exists()
        assert not (world.parent / "planted").exists()
        assert "\nx" not in (world.project / ".ralph.toml").read_text()
        assert "\nx" not in (world.project / ".git/config").read_text()


ODD = ("with blank", 'with "quotes"', "with\nnewline", "with=equals", "-dash", "ünïcode", "a:b,c")


@pytest.mark.parametrize("name", ODD)
def test_a_checkout_with_an_odd_name_has_the_same_sandbox(name: str) -> None:
    with a_world("user") as world:
        folder = world.base / name
        _repository(world, folder)
        script = (
            "echo x > new.txt && git add new.txt && git commit -q -m new && echo works;"
            " echo x >> .ralph.toml; touch ../planted .mcp.json; cat ~/.netrc"
        )
        code, said = _inside(world, folder, script, **IDENTITY)
        assert "works" in said, said
        assert code != 0, "nothing can be read there"
        assert "a-secret" not in said
        assert not (world.base / "planted").exists()
        assert not (folder / ".mcp.json").exists()
        assert (folder / ".ralph.toml").read_text() == '[agent]\ncommand = "true"\n'
