"""After a session, the git of whoever comes next runs nothing that the session wrote."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES
from tests.e2e.sandbox.layouts import (
    ALONE,
    IN_ANY_KIND,
    IN_TWO_STEPS,
    KINDS,
    LAYOUTS,
    LED,
    Garden,
    at_random,
    planting,
)


@pytest.fixture
def garden(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Garden:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    monkeypatch.setenv("HOME", str(outside / "home"))
    return Garden(outside)


def _is_unharmed(garden: Garden, top: Path) -> None:
    assert garden.visit(top) == []
    assert not garden.caught.exists()
    assert (garden.home / ".bashrc").read_text() == "# mine\n"
    assert not (garden.home / ".git").exists()


@pytest.mark.parametrize("name", LAYOUTS)
def test_git_runs_nothing_that_a_session_wrote(garden: Garden, name: str) -> None:
    top = garden.checkout("x")
    said = garden.session(top, planting(LAYOUTS[name].values()))
    assert said, "whatever is found is told"
    for branch in ("side", "main"):
        assert "first" in garden.says(top, "log", "--format=%s", branch), said
    garden.says(top, "status")
    _is_unharmed(garden, top)


@pytest.mark.parametrize(
    "kind",
    [
        one if one == "a linked worktree" else pytest.param(one, marks=pytest.mark.soak)
        for one in KINDS
    ],
)
@pytest.mark.parametrize("use", ["auto", pytest.param("landlock", marks=pytest.mark.soak)])
def test_nor_in_a_checkout_of_another_kind(
    garden: Garden, kind: str, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_USE", use)
    at = garden.checkout_of_kind(kind)
    assert garden.session(at, planting(IN_ANY_KIND.values()))
    for top in {at, garden.base / "x", garden.base / "super"}:
        if top.is_dir():
            garden.says(top, "status")
            _is_unharmed(garden, top)


@pytest.mark.parametrize("name", ["led", "a rebase", "what is under way", "pipes"])
def test_nor_where_landlock_stands_in(
    garden: Garden, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_USE", "landlock")
    top = garden.checkout("x")
    hook = 'cp "$TRAP" .git/hooks/pre-commit; monitor >> .git/config'
    garden.session(top, planting([*LAYOUTS[name].values(), hook]))
    garden.says(top, "status")
    _is_unharmed(garden, top)


@pytest.mark.parametrize("name", IN_TWO_STEPS)
@pytest.mark.parametrize("use", ["auto", "landlock"])
def test_nor_what_a_later_command_moves_to_its_place(
    garden: Garden, name: str, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate runs what a session wrote, and the times of files in a folder that is moved stay as
    they are."""
    monkeypatch.setenv("RALPH_SANDBOX_USE", use)
    top = garden.checkout("x")
    assert garden.session(top, *(planting([step]) for step in IN_TWO_STEPS[name]))
    assert not (top / "lib/.claude").exists()
    assert "mismatch" not in garden.says(top, "fsck", "--full")
    deep = "while cd [e0]*; do :; done; git status; git -C lib commit -q --allow-empty -m x"
    assert garden.visit(top, deep) == []
    _is_unharmed(garden, top)


LOSSES = {
    "all of it": "rm -rf .git",
    "objects": "rm -rf .git/objects/*",
    "what nothing leads to": "git prune --expire=now",
    "other files by the same names": "for f in .git/objects/*/*; do rm -f $f; echo x > $f; done",
}


@pytest.mark.parametrize("how", LOSSES)
def test_what_a_session_removes_of_the_history_is_there_again(garden: Garden, how: str) -> None:
    top = garden.checkout("x")
    garden.says(top, "commit", "-q", "--allow-empty", "-m", "of the reflog")
    lost = garden.says(top, "rev-parse", "HEAD")
    garden.says(top, "reset", "-q", "--hard", "HEAD~1")
    garden.says(top, "reflog", "expire", "--expire=now", "--all")
    before = {*garden.says(top, "rev-list", "--all").split()}
    said = garden.session(top, LOSSES[how])
    assert any("they are there again" in line for line in said)
    assert before <= {*garden.says(top, "rev-list", "--all").split()}
    assert garden.says(top, "cat-file", "-t", lost) == "commit"
    assert "missing" not in garden.says(top, "fsck", "--full")
    assert garden.says(top, "status", "--porcelain") == ""
    assert not [*(top / ".git/ralph").glob("objects-*")], "nothing is kept when Ralph is not there"


ON_PACKS = """cd .git/objects; rm -rf pack info; for f in pack/* info/*; do
chmod u+w $f; echo x > $f; done; echo x > pack/multi-pack-index; git -C ../.. gc -q; cd ../.."""


def test_a_session_writes_no_packs(garden: Garden) -> None:
    """git believes what a pack says of its objects, so one could hold others by their names."""
    top = garden.checkout("x")
    garden.says(top, "gc", "-q")
    objects = top / ".git/objects"
    before = {
        path: path.read_bytes() for path in (*objects.glob("pack/*"), *objects.glob("info/*"))
    }
    assert before
    garden.session(top, f"{ON_PACKS}; git commit -q --allow-empty -m more")
    assert before == {path: path.read_bytes() for path in before}
    assert {*objects.glob("[pi]*/*")} == {*before}
    assert garden.says(top, "log", "-1", "--format=%s") == "more"
    assert "missing" not in garden.says(top, "fsck", "--full")


OBJECT = r"""at() { at=".git/objects/${1%${1#??}}"; mkdir -p "$at"; echo "$at/${1#??}"; }
EVIL="$(at $(git hash-object -w "$TRAP"))"
"""
FORGED = {
    "in place": 'OLD="$(at $(git rev-parse HEAD:.hooks/pre-commit))"; chmod u+w "$OLD";'
    ' cat "$EVIL" > "$OLD"',
    "before it is made": 'cp "$EVIL" "$(at $(echo : next | git hash-object --stdin))"',
}


@pytest.mark.parametrize("how", FORGED)
def test_nor_an_object_by_the_name_of_another(garden: Garden, how: str) -> None:
    """git does not compare them, and a checkout writes what is in the object."""
    mine = "mkdir .hooks; echo : > .hooks/pre-commit; chmod 755 .hooks/*; git add -A;"
    mine += " git config core.hooksPath .hooks; git commit -qm hook"
    later = "rm -r .hooks; git checkout -q .; git commit -q --allow-empty -m mine"
    if how == "before it is made":
        later = f"echo : next > .hooks/pre-commit; git commit -qam changed; {later}"
    plants = planting([OBJECT + FORGED[how]])
    top, other = garden.checkout("x"), garden.checkout("y")
    for one in (top, other):
        subprocess.run(mine, cwd=one, shell=True, check=True)
    assert any("not what their names say" in line for line in garden.session(top, plants))
    garden.visit(top, later)
    assert not garden.caught.exists()
    garden.without_sandbox(other, plants)
    garden.visit(other, later)
    assert garden.caught.exists()


IN_GIT = {
    "an object": OBJECT + FORGED["in place"],
    "staged": "git update-index --cacheinfo"
    ' "100755,$(git hash-object -w "$TRAP"),.hooks/pre-commit"',
}


@pytest.mark.parametrize("how", IN_GIT)
def test_nor_what_a_known_repository_writes_in_the_place_of_its_hooks(
    garden: Garden, how: str
) -> None:
    mine = "mkdir .hooks; echo : > .hooks/pre-commit; chmod 755 .hooks/*; git add -A;"
    mine += " git config core.hooksPath .hooks; git commit -qm hook"
    later = "rm -r .hooks; git checkout -q .; git commit -q --allow-empty -m mine"
    plants = planting([f"cd nested; {IN_GIT[how]}"])
    top = garden.checkout("x")
    subprocess.run(mine, cwd=top / "nested", shell=True, check=True)
    garden.session(top, plants)
    garden.visit(top / "nested", later)
    assert not garden.caught.exists()
    garden.without_sandbox(top, plants)
    garden.visit(top / "nested", later)
    assert garden.caught.exists()


def test_nor_what_is_found_before_the_programs_of_the_system(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = garden.checkout("x")
    inner = (".venv/bin", "node_modules/.bin")
    path = f"{top}/{inner[0]}:{inner[1]}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    names = "git git-lfs sed less ralph mine"
    plants = f"for at in {' '.join(inner)}; do mkdir -p $at; for name in {names}; do"
    said = garden.session(top, planting([f'{plants} cp "$TRAP" $at/$name; done; done']))
    assert len([line for line in said if "/git appeared, where nothing may be put" in line]) == 2
    assert garden.visit(top, f"PATH={path}; git status; git submodule status; git log -1") == []
    assert not garden.caught.exists()
    assert [(top / at / "mine").exists() for at in inner] == [True, True]


SETTINGS = {
    "a nested repository": ("nested", "git config core.hooksPath .hooks"),
    "a submodule": ("known", "git config core.hooksPath .hooks"),
    "a program to come": ("known", "git config core.fsmonitor tools/watch"),
    "a program to come, at the top": (".", "git config core.fsmonitor tools/watch"),
    "hooks behind a link": (
        ".",
        "mkdir theirs; ln -s theirs .hooks; git config core.hooksPath .hooks",
    ),
    "hooks in every repository": ("known", "git config -f $HOME/.gitconfig core.hooksPath .hooks"),
    "through a link": (".", "ln -s $PWD ../link; git config core.hooksPath $PWD/../link/.hooks"),
    "a program through a link": (
        ".",
        "ln -s $PWD ../link; mkdir tools; echo true > tools/watch; chmod 755 tools/watch;"
        " git config core.fsmonitor $PWD/../link/tools/watch",
    ),
    "a program to come, through a link": (
        "known",
        "ln -s $PWD/.. ../../link; git config core.fsmonitor $PWD/../../link/known/tools/watch",
    ),
    "included": ("nested", "git config include.path ../more"),
    "included on another branch": (
        ".",
        r"mkdir more.d; printf '[include]\n\tpath = ../more\n' > more.d/x;"
        " git config includeIf.onbranch:other.path ../more.d/x",
    ),
}
PLANTS = """cd "$AT"; mkdir -p tools; cp "$TRAP" tools/watch; monitor > more
rm -rf .hooks; mkdir -p .hooks; cp "$TRAP" .hooks/pre-commit"""
COMMITS = """cd "$AT" && { git checkout -q -B other; git status; echo x > mine; git add mine
git commit -q -m mine; git st; }"""


@pytest.mark.parametrize("name", SETTINGS)
def test_nor_where_settings_of_the_person_lead_into_the_checkout(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    top = garden.checkout("x")
    at, setting = SETTINGS[name]
    subprocess.run(setting, cwd=top / at, shell=True, check=True)
    plants = PLANTS.replace("$AT", at)
    garden.session(top, planting([plants]))
    assert garden.visit(top, COMMITS.replace("$AT", at)) == []
    assert not garden.caught.exists()
    garden.without_sandbox(top, planting([plants]))
    assert garden.visit(top, COMMITS.replace("$AT", at))


RUN_OUTSIDE = {
    "a hook": 'printf "#!/bin/sh\ncd $(git rev-parse --show-toplevel) && ./tools/lint\n" >'
    " .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit",
    "a hook that starts what is to come": 'printf "#!/bin/sh\n[ ! -x tools/late ] ||'
    ' tools/late\n" > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit',
    "a hook that is a link": "ln -s ../../tools/lint .git/hooks/pre-commit",
    "a hook that is a link to what is to come": "rm tools/lint;"
    " ln -s ../../tools/lint .git/hooks/pre-commit",
    "a folder of hooks that is a link": "rmdir .git/hooks; ln -s ../tools .git/hooks;"
    " mv tools/lint tools/pre-commit",
    "a hook in Python": 'printf "#!/usr/bin/env python3\nimport subprocess\n'
    "subprocess.run(['./tools/lint'])\n\" > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit",
    "an alias": 'git config alias.st "!f() { ./tools/lint; }; f"',
    "a filter": "git config filter.x.clean 'sh tools/lint'; echo 'mine filter=x' > .gitattributes",
}


@pytest.mark.parametrize("name", RUN_OUTSIDE)
def test_nor_what_scripts_of_the_person_start(garden: Garden, name: str) -> None:
    """The script that a setting or a hook names is protected, and so is what it starts in turn."""
    top = garden.checkout("x")
    mine = "mkdir -p .git/hooks tools; printf '#!/bin/sh\n. ./tools/watch\n' > tools/lint; "
    mine += "chmod 755 tools/lint; echo : > tools/watch; "
    subprocess.run(mine + RUN_OUTSIDE[name], cwd=top, shell=True, check=True)
    tools = 'for name in watch lint pre-commit late; do cp "$TRAP" tools/$name; done'
    plants = planting([f"mv tools away; mkdir -p tools; {tools}"])
    garden.session(top, plants)
    garden.visit(top, COMMITS.replace("$AT", "."))
    assert not garden.caught.exists()
    garden.without_sandbox(top, plants)
    garden.visit(top, "echo y > mine; git add mine; git commit -q -m more; git st")
    assert garden.caught.exists()


def test_without_a_sandbox_it_would(garden: Garden) -> None:
    """Else the tests above would prove nothing."""
    top = garden.checkout("led")
    garden.without_sandbox(top, planting(LED.values()))
    assert garden.visit(top, "git status")
    assert {*garden.caught.read_text().split()} == {str(at) for at in range(len(LED))}
    for name, script in ALONE.items():
        top = garden.checkout(name)
        garden.without_sandbox(top, planting([script]))
        assert garden.visit(top, "git status; git rebase --continue")
    garden.caught.unlink()
    top = garden.checkout_of_kind("a linked worktree")
    garden.without_sandbox(top, planting(IN_ANY_KIND.values()))
    assert garden.visit(top, "git status")


@pytest.mark.parametrize("seed", range(6))
def test_nor_anything_by_chance(garden: Garden, seed: int) -> None:
    _plant_at_random(garden, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 100 + int(EXAMPLES or 200)))
def test_nor_anything_by_much_chance(garden: Garden, seed: int) -> None:
    _plant_at_random(garden, seed)


def _plant_at_random(garden: Garden, seed: int) -> None:
    top = garden.checkout("x")
    garden.session(top, *at_random(seed))
    _is_unharmed(garden, top)
