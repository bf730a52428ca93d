"""Which repositories in a checkout are traps, and which are harmless."""

import os
import subprocess
from pathlib import Path

import pytest

from ralph.adapters.sandbox.guard import Kept, Watch, look_after_the_dead
from ralph.adapters.sandbox.needed import ours
from ralph.adapters.sandbox.searching import out_of_reach
from ralph.adapters.sandbox.traps import Area, Traps, look, steering
from ralph.core.fence import Access, Fence, Place

HARMLESS = """\
# a comment
[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
[remote "origin"]
	url = https://example.com/x.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
[user]
	name = A Person
"""
TRAPS = (
    "[core]\n\tfsmonitor = evil\n",
    "[core]\nfsmonitor\n",
    "[core] fsmonitor = evil\n",
    "[CORE]\n\tFSMonitor=evil\n",
    "[core]\n\thooksPath = evil\n",
    "[core]\n\tsshCommand = evil\n",
    "[core]\n\teditor = evil\n",
    "[core]\n\tworktree = /elsewhere\n",
    "[include]\n\tpath = evil\n",
    '[includeIf "gitdir:/"]\n\tpath = evil\n',
    '[filter "x"]\n\tclean = evil\n',
    '[diff "x"]\n\ttextconv = evil\n',
    "[diff]\n\texternal = evil\n",
    '[merge "x"]\n\tdriver = evil\n',
    "[gpg]\n\tprogram = evil\n",
    "[credential]\n\thelper = !evil\n",
    "[alias]\n\tst = !evil\n",
    "[pager]\n\tstatus = evil\n",
    '[remote "origin"]\n\tuploadpack = evil\n',
    '[submodule "x"]\n\tupdate = !evil\n',
    "[extensions]\n\tworktreeConfig = true\n",
    "[core]\n\tbare = fal\\\nse\n",
    "\ufeff[core]\n\tbare = false\n",
    "[remote.origin]\n\turl = x\n",
)


def _repository(path: Path, config: str = HARMLESS) -> Path:
    subprocess.run(["git", "init", "-q", "--template=", str(path)], check=True)
    (path / ".git/config").write_text(config)
    return path / ".git"


def _look(top: Path, *closed: Path) -> Traps:
    return look(Area(roots=(str(top),), closed=tuple(map(str, closed))))


def _runs(top: Path) -> bool:
    return any(trap.parts for trap in _look(top).values())


def test_a_repository_that_names_nothing_is_harmless(tmp_path: Path) -> None:
    _repository(tmp_path / "x")
    assert [*_look(tmp_path)] == [str(tmp_path / "x/.git")]
    assert not _runs(tmp_path)
    hooks = tmp_path / "x/.git/hooks"
    hooks.mkdir()
    (hooks / "pre-commit.sample").touch()
    assert not _runs(tmp_path)


def test_what_a_plain_git_makes_is_harmless(tmp_path: Path) -> None:
    source = _repository(tmp_path / "source").parent
    subprocess.run(
        ["git", "-C", source, "commit", "-q", "--allow-empty", "-m", "x"],
        check=True,
    )
    subprocess.run(["git", "clone", "-q", source, tmp_path / "clone"], check=True)
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare"], check=True)
    assert len(_look(tmp_path)) == 3
    assert not _runs(tmp_path)


@pytest.mark.parametrize("config", TRAPS)
def test_one_that_names_something_is_a_trap(tmp_path: Path, config: str) -> None:
    _repository(tmp_path / "x", HARMLESS + config if config[0] == "[" else config)
    assert _runs(tmp_path)


def test_a_hook_is_a_trap_and_another_one_is_another(tmp_path: Path) -> None:
    git = _repository(tmp_path / "x")
    hook = git / "hooks/post-checkout"
    hook.parent.mkdir()
    hook.touch()
    before = _look(tmp_path)
    hook.rename(hook.with_name("kept"))
    hook.touch()
    (git / "hooks/kept").unlink()
    assert before[str(git)].parts.keys() != _look(tmp_path)[str(git)].parts.keys()


def test_a_repository_at_the_top_does_not_hide_what_is_below(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (tmp_path / "HEAD").touch()
    (tmp_path / "a/.claude").mkdir(parents=True)
    assert str(tmp_path / "a/.claude") in _look(tmp_path)


def test_known_places_and_links_are_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a/.claude").mkdir(parents=True)
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "node_modules/x/.claude").mkdir(parents=True)
    assert list(_look(tmp_path)) == [str(tmp_path / "a/.claude")]
    assert _look(tmp_path, tmp_path / "a") == {}
    assert steering(str(tmp_path)) == (str(tmp_path / "a/.claude"),)


def _fence(top: Path) -> Fence:
    whole = Place(path=str(top), access=Access.WRITE, why="checkout")
    return Fence(top=str(top), git=str(top / ".git"), home="/home/x", places=(whole,))


def test_what_was_there_stays_and_what_is_new_goes(tmp_path: Path) -> None:
    top, state = tmp_path / "top", tmp_path / "state"
    _repository(top / "old", HARMLESS + TRAPS[0])
    (top / "a/.claude").mkdir(parents=True)
    watch = Watch(str(state), _fence(top))
    _repository(top / "good")
    _repository(top / "bad", HARMLESS + TRAPS[0])
    (top / "b/.claude").mkdir(parents=True)
    said, _ = watch.end()
    assert len(said) == 2
    assert (top / "old/.git").exists()
    assert (top / "good/.git").exists()
    assert not (top / "bad/.git").exists()
    assert (top / "a/.claude").exists()
    assert not (top / "b/.claude").exists()
    assert len(os.listdir(state / "planted")) == 2, "nothing is lost"


def test_a_name_that_is_no_text_survives_the_list_of_a_killed_one(tmp_path: Path) -> None:
    top, state = tmp_path / "top", tmp_path / "state"
    odd = Path(os.fsdecode(os.fsencode(str(top)) + b"/\xff"))
    (odd / ".claude").mkdir(parents=True)
    watch = Watch(str(state), _fence(top))
    (odd / "b/.claude").mkdir(parents=True)
    os.close(watch._handle)  # as the kernel does for the dead
    assert len(look_after_the_dead(str(state))) == 1
    assert (odd / ".claude").exists()
    assert not (odd / "b/.claude").exists()


def test_a_list_that_makes_no_sense_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "watched-1.json").write_text('["x"]')
    (tmp_path / "watched-2.json").write_text("{")
    assert look_after_the_dead(str(tmp_path)) == []
    assert Kept().clear_up(str(tmp_path)) == ([], {})


def test_ralph_itself_is_protected_where_it_lies_in_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ours(str(tmp_path)) == ()
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    monkeypatch.setattr("ralph.__path__", [str(tmp_path / ".venv/lib/ralph")])
    assert ours(str(tmp_path)) == (str(tmp_path / ".venv"),)
    monkeypatch.setattr("ralph.__path__", [str(tmp_path / "src/ralph")])
    assert ours(str(tmp_path)) == (str(tmp_path / ".venv"), str(tmp_path / "src/ralph"))
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert str(tmp_path / "bin") in ours(str(tmp_path))
    assert str(tmp_path) not in ours(str(tmp_path))


def test_programs_are_looked_for_where_no_session_writes(tmp_path: Path) -> None:
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    for folder in (top / "bin", elsewhere, top / "kept"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(top / "bin")
    kept = Place(path=str(top / "kept"), access=Access.READ, why="kept")
    fence = _fence(top).with_places(kept)
    path = os.pathsep.join(
        (
            "",
            ".",
            "bin",
            f"{top}/bin",
            f"{tmp_path}/link",
            f"{top}/kept",
            f"{elsewhere}",
            "/usr/bin",
        )
    )
    assert out_of_reach(path, fence) == f"{top}/kept:{elsewhere}:/usr/bin"
    assert out_of_reach(f"{top}/bin", fence) == "/nowhere", (
        "an empty one would be the current folder"
    )
