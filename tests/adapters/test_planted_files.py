"""Which repositories in a checkout are traps, and which are harmless."""

import os
import subprocess
from pathlib import Path

import pytest

from ralph.adapters.sandbox.planted_files import (
    PlantedFiles,
    SearchArea,
    find_agent_settings,
    find_planted_files,
)
from ralph.adapters.sandbox.required_paths import ralph_code_in, separate_modules, unwritable_path
from ralph.adapters.sandbox.tamper_check import FilesBefore, TamperCheck, clean_up_after_killed
from ralph.core.sandbox_rules import Access, PathRule, SandboxRules

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
    '[remote "origin"]\n\tpromisor = true\n',
    '[remote "origin"]\n\turl = ext::evil\n',
    '[remote "origin"]\n\turl = ext":":evil\n',
    "[extensions]\n\tpartialClone = origin\n",
    "[http]\n\tcookieFile = .bashrc\n\tsaveCookies = true\n",
    "[commit]\n\tgpgSign = true\n",
    "[commit]\n\tgpgSign\n",
    '[branch "main"]\n\tmergeOptions = -s evil\n',
)


def _repository(path: Path, config: str = HARMLESS) -> Path:
    subprocess.run(["git", "init", "-q", "--template=", str(path)], check=True)
    (path / ".git/config").write_text(config)
    return path / ".git"


def _look(top: Path, *closed: Path) -> PlantedFiles:
    return find_planted_files(SearchArea(roots=(str(top),), closed=tuple(map(str, closed))))


def test_files_keep_their_permissions(tmp_path: Path) -> None:
    file, link = tmp_path / "guardrails.md", tmp_path / "link"
    file.write_text("x")
    file.chmod(0o644)
    link.symlink_to(file)
    find_planted_files(SearchArea(roots=(str(file), str(link), str(tmp_path))))
    assert file.stat().st_mode & 0o777 == 0o644


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


def test_names_in_another_case_are_the_same_for_some_file_systems(tmp_path: Path) -> None:
    git = _repository(tmp_path / "x", TRAPS[0])
    for name in ("objects", "refs"):
        (git / name).rename(git / name.title())
    assert _runs(tmp_path)


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
    assert before[str(git)].parts != _look(tmp_path)[str(git)].parts


def test_a_repository_at_the_top_does_not_hide_what_is_below(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (tmp_path / "HEAD").touch()
    (tmp_path / "a/.claude").mkdir(parents=True)
    assert str(tmp_path / "a/.claude") in _look(tmp_path)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o300, 0o000])
def test_a_folder_that_cannot_be_entered_or_listed_hides_nothing(tmp_path: Path, mode: int) -> None:
    """A later command may open it, which changes the times of nothing in it."""
    _repository(tmp_path / "shut/x", TRAPS[0])
    (tmp_path / "shut").chmod(mode)
    assert _runs(tmp_path)


def test_known_places_and_links_are_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a/.claude").mkdir(parents=True)
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "node_modules/x/.claude").mkdir(parents=True)
    assert list(_look(tmp_path)) == [str(tmp_path / "a/.claude")]
    assert _look(tmp_path, tmp_path / "a") == {}
    assert find_agent_settings(str(tmp_path)) == (str(tmp_path / "a/.claude"),)


def _sandbox_rules(top: Path) -> SandboxRules:
    whole = PathRule(path=str(top), access=Access.WRITE, why="checkout")
    return SandboxRules(top=str(top), git=str(top / ".git"), home="/home/x", paths=(whole,))


def test_what_was_there_stays_and_what_is_new_goes(tmp_path: Path) -> None:
    top, state = tmp_path / "top", tmp_path / "state"
    _repository(top / "old", HARMLESS + TRAPS[0])
    (top / "a/.claude").mkdir(parents=True)
    watch = TamperCheck(str(state), _sandbox_rules(top))
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
    watch = TamperCheck(str(state), _sandbox_rules(top))
    (odd / "b/.claude").mkdir(parents=True)
    os.close(watch._handle)  # as the kernel does for the dead
    assert len(clean_up_after_killed(str(state))) == 1
    assert (odd / ".claude").exists()
    assert not (odd / "b/.claude").exists()


def test_a_list_that_makes_no_sense_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "watched-1.json").write_text('["x"]')
    (tmp_path / "watched-2.json").write_text("{")
    assert clean_up_after_killed(str(tmp_path)) == []
    assert FilesBefore().clear_up(str(tmp_path)) == ([], {})


def test_ralph_itself_is_protected_where_it_lies_in_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ralph_code_in(str(tmp_path)) == ()
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    monkeypatch.setattr("ralph.__path__", [str(tmp_path / ".venv/lib/ralph")])
    assert ralph_code_in(str(tmp_path)) == (str(tmp_path / ".venv"),)
    monkeypatch.setattr("ralph.__path__", [str(tmp_path / "src/ralph")])
    assert ralph_code_in(str(tmp_path)) == (str(tmp_path / ".venv"), str(tmp_path / "src/ralph"))
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert str(tmp_path / "bin") in ralph_code_in(str(tmp_path))
    assert str(tmp_path) not in ralph_code_in(str(tmp_path))


def test_a_folder_of_modules_in_the_checkout_is_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would load from there what it does not find elsewhere, such as `sitecustomize`."""
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    assert ralph_code_in(str(tmp_path)) == (str(tmp_path / "src"),)


def test_modules_that_an_installer_has_linked_become_files_of_their_own(tmp_path: Path) -> None:
    own, theirs = tmp_path / "own", tmp_path / "project"
    for name in ("package/__init__.py", "other/data.json", "stdlib/os.py"):
        for folder in (own, theirs):
            (folder / name).parent.mkdir(parents=True)
        (theirs / name).write_text("theirs")
        (own / name).hardlink_to(theirs / name)
    (own / "other/link").symlink_to("data.json")
    separate_modules(str(own / "stdlib/os.py"), str(own / "package/__init__.py"))
    files = [path for path in own.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) == 3
    assert all(path.stat().st_nlink == 1 and path.read_text() == "theirs" for path in files)


def test_programs_are_looked_for_where_no_session_writes(tmp_path: Path) -> None:
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    for folder in (top / "bin", elsewhere, top / "kept"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(top / "bin")
    kept = PathRule(path=str(top / "kept"), access=Access.READ, why="kept")
    sandbox_rules = _sandbox_rules(top).with_paths(kept)
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
    assert unwritable_path(path, sandbox_rules) == f"{top}/kept:{elsewhere}:/usr/bin"
    assert unwritable_path(f"{top}/bin", sandbox_rules) == "/nowhere", (
        "an empty one would be the current folder"
    )
