"""Checkouts that are not simply a folder with a `.git` in it, and sandboxes that are tampered
with."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import wait_for
from tests.e2e.ralph_process import RALPH
from tests.e2e.sandbox.world import USERS, World, a_world


def _inside(world: World, folder: Path, script: str) -> "subprocess.CompletedProcess[str]":
    return world.do(RALPH, "sandbox", "run", "--", "sh", "-c", script, cwd=folder, check=False)


def _worktree(world: World) -> Path:
    where = world.base / "linked"
    world.git(world.project, "worktree", "add", "-q", "-b", "side", str(where))
    world.git(world.project, "worktree", "add", "-q", "-b", "other", str(world.base / "other"))
    world.do(RALPH, "init", cwd=where)
    return where


IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Person"), ("EMAIL", "person@example.com"))
}
PLANTS = (
    "echo /x > {admin}/commondir",
    "rm {admin}/commondir",
    "echo /x > {admin}/gitdir",
    "echo '[core]' > {admin}/config.worktree",
    "echo /x > {others}/commondir",
    "echo '[core] pager=x' >> {common}/config",
    "touch {common}/hooks/pre-commit",
    "touch {common}/info/attributes",
    "mkdir -p {common}/modules/x",
    "mkdir {common}/worktrees/x",
    "mv {common}/worktrees {common}/away",
    "echo x > {common}/HEAD",
    "rm {common}/index",
    "echo 'gitdir: /x' > .git",
    "mv .git away",
)


@pytest.mark.parametrize("user", USERS)
def test_a_linked_worktree_commits_and_plants_nothing(user: str) -> None:
    with a_world(user) as world:
        where = _worktree(world)
        common = world.project / ".git"
        places = {
            "common": common,
            "admin": common / "worktrees/linked",
            "others": common / "worktrees/other",
        }
        before = _fingerprint(common, where)
        script = "\n".join(plant.format(**places) for plant in PLANTS)
        done = _inside(
            world, where, f"{script}\necho new > new; git add new; git commit -q -m inside"
        )
        assert done.returncode == 0, done.stderr
        assert _fingerprint(common, where) == before
        assert world.git(where, "log", "--format=%s").split() == ["inside", "first"]
        assert world.git(world.project, "log", "--format=%s").split() == ["first"]
        assert "config.worktree appeared" in done.stderr


def _fingerprint(common: Path, where: Path) -> dict[str, bytes]:
    """Everything in the repository that decides what git runs, and other checkouts' own."""
    names = ["config", "HEAD", "index", *(f"worktrees/{n}/commondir" for n in ("linked", "other"))]
    found = {name: (common / name).read_bytes() for name in (*names, "worktrees/linked/gitdir")}
    found[".git"] = (where / ".git").read_bytes()
    for folder in ("hooks", "info", "modules", "worktrees"):
        found[folder] = (
            json.dumps(sorted(os.listdir(common / folder))).encode()
            if (common / folder).exists()
            else b""
        )
    found["admin"] = json.dumps((common / "worktrees/linked/config.worktree").exists()).encode()
    return found


@pytest.mark.parametrize("user", USERS)
def test_a_project_in_a_part_of_a_repository_cannot_be_swapped(user: str) -> None:
    with a_world(user) as world:
        part = world.project / "apps/web"
        part.mkdir(parents=True)
        shutil.copy(world.project / ".ralph.toml", part)
        world.give()
        world.do(RALPH, "init", cwd=part)
        script = (
            "git init -q; git init -q ..; "
            "cd ../..; mv apps away; mv apps/web apps/away; echo x > apps/web/.ralph.toml;"
            " mkdir -p apps/web/.claude/x .claude/x; touch top.txt apps/beside.txt apps/web/own.txt"
        )
        _inside(world, part, script)
        assert "x" not in (part / ".ralph.toml").read_text().splitlines()
        assert not (world.project / "away").exists()
        assert not (world.project / "apps/away").exists()
        assert not (part / ".git/HEAD").exists(), "it would be taken for the project's own"
        assert not (part.parent / ".git/HEAD").exists()
        assert not (part / ".claude/x").exists()
        assert not (world.project / ".claude/x").exists()
        written = ("top.txt", "apps/beside.txt", "apps/web/own.txt")
        assert all((world.project / name).exists() for name in written)


def test_a_link_in_the_checkout_does_not_open_what_it_leads_to() -> None:
    """A session may have left one where the next wall would open a folder."""
    with a_world("user") as world:
        shutil.rmtree(world.project / ".ralph/features")
        (world.project / ".ralph/features").symlink_to(world.home)
        _inside(world, world.project, "echo x > .ralph/features/planted; echo x > ~/planted")
        assert not (world.home / "planted").exists()


def test_a_link_in_the_place_of_what_is_protected_is_said() -> None:
    with a_world("user") as world:
        (world.project / "shared").mkdir()
        (world.project / ".claude").symlink_to("shared")
        done = _inside(world, world.project, "true")
        assert f"{world.project}/.claude is a symbolic link" in done.stderr


def test_a_protected_file_that_was_replaced_from_outside_is_said() -> None:
    """The kernel takes the mount away with the file: from then on it can be written inside."""
    with a_world("user") as world:
        there, cue = world.project / "there", world.project / "cue"
        script = (
            "touch there; until [ -e cue ]; do sleep 0.02; done; echo '# inside' >> .ralph.toml"
        )
        process = subprocess.Popen(
            world.as_user([RALPH, "sandbox", "run", "--", "sh", "-c", script]),
            cwd=world.project,
            env=world.env,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(there.exists, "it began")
        world.do("sh", "-c", "cp .ralph.toml t && mv t .ralph.toml", cwd=world.project)
        cue.touch()
        _, said = process.communicate(timeout=240)
        assert f"{world.project}/.ralph.toml was changed meanwhile" in said


def test_settings_of_git_that_came_meanwhile_run_nothing() -> None:
    """Git itself replaces the file, which opens it to whoever runs inside."""
    with a_world("user") as world:
        there, cue = world.project / "there", world.project / "cue"
        script = (
            "touch there; until [ -e cue ]; do sleep 0.02; done; git config core.fsmonitor ./evil"
        )
        process = subprocess.Popen(
            world.as_user([RALPH, "sandbox", "run", "--", "sh", "-c", script]),
            cwd=world.project,
            env=world.env,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(there.exists, "it began")
        world.git(world.project, "config", "branch.main.description", "mine")
        cue.touch()
        _, said = process.communicate(timeout=240)
        assert f"{world.project}/.git/config was changed meanwhile" in said
        assert "named what git would run (core: fsmonitor = ./evil)" in said
        assert "fsmonitor" not in world.git(world.project, "config", "--list")
        mine = world.git(world.project, "config", "branch.main.description")
        assert mine == "mine\n", "a person's own setting stays"


def test_what_a_killed_one_left_is_taken_away_by_the_next() -> None:
    with a_world("user") as world:
        script = (
            "echo x > .mcp.json; echo . > .git/commondir; mkdir -p a/.claude; touch there;"
            " sleep 100"
        )
        argv = world.as_user([RALPH, "sandbox", "run", "--", "sh", "-c", script])
        process = subprocess.Popen(argv, cwd=world.project, env=world.env)
        wait_for((world.project / "there").exists, "it planted")
        process.kill()
        process.wait()
        assert (world.project / ".git/commondir").exists()
        done = _inside(world, world.project, "git log --format=%s")
        assert done.stdout == "first\n"
        assert not (world.project / ".git/commondir").exists()
        assert not (world.project / ".mcp.json").exists()
        assert not (world.project / "a/.claude").exists()
        assert done.stderr.count("appeared, where nothing may be put") == 3
        assert not (world.project / ".claude").exists(), "a folder that held a place is left"


@pytest.mark.parametrize("user", USERS)
def test_a_submodule_cannot_be_made_a_trap(user: str) -> None:
    """Git looks into it whenever somebody asks for the status of the whole."""
    with a_world(user) as world:
        source, caught = world.base / "source", world.base / "caught"
        world.do("git", "init", "-q", str(source), cwd=world.base)
        world.do("git", "commit", "-q", "--allow-empty", "-m", "x", cwd=source, **IDENTITY)
        add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source))
        world.git(world.project, *add, "sub")
        world.git(world.project, "commit", "-q", "-m", "sub")
        trap = world.write(world.project / "trap.sh", f"#!/bin/sh\ntouch {caught}\n")
        trap.chmod(0o755)
        world.give()
        script = (
            "rm sub/.git; git init -q sub; git -C sub config core.fsmonitor $PWD/trap.sh;"
            " git -C sub commit -q --allow-empty -m x; git add sub; git commit -q -m moved"
        )
        said = world.do(
            *(RALPH, "sandbox", "run", "--", "sh", "-c", script),
            cwd=world.project,
            check=False,
            **IDENTITY,
        ).stderr
        assert f"{world.project}/sub/.git led to another repository: it is as before" in said
        assert "gitdir: " in (world.project / "sub/.git").read_text()
        world.do("git", "status", cwd=world.project)
        assert not caught.exists()
        world.do("sh", "-c", script, cwd=world.project, check=False, **IDENTITY)
        world.do("git", "status", cwd=world.project)
        assert caught.exists(), "without a sandbox it is one"


def test_root_does_not_work_in_somebody_elses_checkout() -> None:
    if "root" not in USERS:
        return
    with a_world("root") as world:
        subprocess.run(["chown", "-R", "65534", str(world.project)], check=True)
        world.do("git", "config", "--global", "safe.directory", "*", cwd=world.project)
        done = world.sandboxed("true")
        assert done.returncode == 69
        assert "belongs to another user" in done.stderr
        assert "setpriv --reuid=65534" in done.stderr
