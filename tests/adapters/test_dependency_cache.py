"""Dependencies that are installed once and copied where the same is asked for."""

from pathlib import Path

import pytest

from ralph.adapters.workspace.checkout_setup import KEPT, DependencyCache
from ralph.ports.executor import Interrupted

SETUP = ("npm ci",)


def checkout(folder: Path, name: str, lock: str = "1") -> Path:
    path = folder / name
    path.mkdir()
    (path / "package-lock.json").write_text(lock)
    return path


def installed(path: Path, text: str = "a module") -> Path:
    (path / "node_modules/.bin").mkdir(parents=True)
    (path / "node_modules/a.js").write_text(text)
    (path / "node_modules/.bin/a").symlink_to("../a.js")
    return path


@pytest.fixture
def dependency_cache(tmp_path: Path) -> DependencyCache:
    return DependencyCache(str(tmp_path / "cache"), ("node_modules",), SETUP)


def test_what_was_installed_once_is_copied(
    dependency_cache: DependencyCache, tmp_path: Path
) -> None:
    one, two = checkout(tmp_path, "one"), checkout(tmp_path, "two")
    assert not dependency_cache.copy_into(str(one))
    dependency_cache.save_from(str(installed(one)))
    assert dependency_cache.copy_into(str(two))
    assert (two / "node_modules/.bin/a").read_text() == "a module"
    assert (two / "node_modules/.bin/a").is_symlink()
    (two / "node_modules/a.js").write_text("changed by a session")
    three = checkout(tmp_path, "three")
    dependency_cache.copy_into(str(three))
    assert (three / "node_modules/a.js").read_text() == "a module"


def test_other_lock_files_or_commands_ask_for_something_else(
    dependency_cache: DependencyCache, tmp_path: Path
) -> None:
    dependency_cache.save_from(str(installed(checkout(tmp_path, "one"))))
    assert not dependency_cache.copy_into(str(checkout(tmp_path, "two", lock="2")))
    other = DependencyCache(str(tmp_path / "cache"), ("node_modules",), ("npm install",))
    assert not other.copy_into(str(checkout(tmp_path, "three")))


def test_what_cannot_be_copied_whole_is_not_there_at_all(
    dependency_cache: DependencyCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dependency_cache.save_from(str(installed(checkout(tmp_path, "one"))))
    two = checkout(tmp_path, "two")

    def full(_: str, target: str, **__: object) -> None:
        Path(target).mkdir()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    assert not dependency_cache.copy_into(str(two))
    assert not (two / "node_modules").exists()


def test_only_so_many_are_kept(dependency_cache: DependencyCache, tmp_path: Path) -> None:
    for number in range(KEPT + 2):
        dependency_cache.save_from(
            str(installed(checkout(tmp_path, str(number), lock=str(number))))
        )
    assert len(list((tmp_path / "cache").iterdir())) == KEPT


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", ".", ""])
def test_nothing_outside_of_the_checkout_is_touched(name: str, tmp_path: Path) -> None:
    dependency_cache = DependencyCache(str(tmp_path / "cache"), (name,), SETUP)
    one = checkout(tmp_path, "one")
    dependency_cache.save_from(str(one))
    assert not dependency_cache.copy_into(str(one))
    assert not (tmp_path / "cache").exists()


def test_one_installs_and_whoever_waits_for_that_can_be_called_off(
    dependency_cache: DependencyCache, tmp_path: Path
) -> None:
    other = DependencyCache(str(tmp_path / "cache"), ("node_modules",), SETUP)
    with dependency_cache.lock(lambda: False), pytest.raises(Interrupted), other.lock(lambda: True):
        pytest.fail("both have it")
    with other.lock(lambda: True):
        pass
