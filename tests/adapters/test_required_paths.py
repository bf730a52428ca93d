"""What sessions need of a machine: found by rule, in a home made for it."""

import os
from pathlib import Path

import pytest

from ralph.adapters.sandbox.required_paths import (
    required_paths,
    unreadable_for_others,
    with_its_folder,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def _file(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _seen(home: Path, path: str = "", **more: object) -> dict[str, str]:
    env = {"PATH": path or "/usr/bin", **{k: str(v) for k, v in more.items() if k.isupper()}}
    options = {name: value for name, value in more.items() if name.islower()}
    found = required_paths(env, str(home), **options)  # type: ignore[arg-type]
    return {path: why for path, why in found if path.startswith(str(home.parent))}


def test_logins_beside_toolchains_and_settings_with_a_token_are_not_shown(home: Path) -> None:
    for name in ("uv/python/3", "uv/credentials/x", "mise/installs/node", "mise/state/x"):
        _file(home / ".local/share" / name)
    _file(home / ".cargo/config.toml", "[registries.mine]\ntoken = 'x'\n")
    _file(home / ".config/mise/config.toml", "[tools]\nnode = '22'\n")
    _file(home / ".config/mise/age.txt")
    shown = {os.path.relpath(path, home) for path in _seen(home)}
    share = {".local/share/uv/python", ".local/share/mise/installs"}
    assert shown == {*share, ".config/mise/config.toml"}


def test_what_others_may_not_read_is_found(tmp_path: Path) -> None:
    for name in ("a", "b", "folder/c", "closed/d"):
        _file(tmp_path / name)
    for name, mode in (("a", 0o600), ("folder/c", 0o640), ("closed", 0o700)):
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to("a")
    found = unreadable_for_others(str(tmp_path))
    assert found == tuple(str(tmp_path / name) for name in ("a", "closed", "folder/c"))


def test_an_empty_home_shows_nothing(home: Path) -> None:
    _file(home / ".profile")
    _file(home / ".unknown/token")
    assert _seen(home) == {}


def test_a_folder_of_the_path_shows_its_installation_without_the_files_beside(home: Path) -> None:
    for name in ("bin/tool", "lib/a", "versions/1/a", "version"):
        _file(home / ".tool" / name)
    for name in ("token", "keys/a", ".hidden/a", "conversations/a", "src/a", "conf/a", "etc/a"):
        _file(home / ".tool" / name)
    seen = _seen(home, f"{home}/.tool/bin")
    shown = {os.path.relpath(path, home / ".tool") for path in seen}
    assert shown == {"bin", "lib", "versions", "version"}


@pytest.mark.parametrize(
    ("folder", "sign"), [("src", "bin/go"), ("conf", "release"), ("etc", "conda-meta/history")]
)
def test_what_is_a_persons_elsewhere_is_shown_beside_what_needs_it(
    home: Path, folder: str, sign: str
) -> None:
    for name in ("bin/tool", "x86_64-linux-gnu/lib/a", sign, f"{folder}/a", "workspaces/a"):
        _file(home / "kit" / name)
    seen = {os.path.relpath(path, home / "kit") for path in _seen(home, f"{home}/kit/bin")}
    assert seen == {"bin", "x86_64-linux-gnu", folder, sign.partition("/")[0]}


@pytest.mark.parametrize("name", ["bin", ".local/bin"])
def test_a_folder_that_all_share_shows_only_itself(home: Path, name: str) -> None:
    _file(home / name / "tool")
    _file(home / ".local/share/keyrings/login")
    _file(home / "notes")
    assert _seen(home, f"{home}/{name}") == {f"{home}/{name}": "on your PATH"}


def test_secrets_among_programs_are_not_shown(home: Path) -> None:
    for name in ("bin/.env", "bin/deploy.token", "bin/auth-tool", "bin/data"):
        _file(home / name)
    (home / "bin/auth-tool").chmod(0o755)
    shown = {os.path.relpath(path, home) for path in _seen(home, str(home / "bin"))}
    assert shown == {"bin/auth-tool", "bin/data"}


def test_packages_are_shown_whatever_their_names(home: Path) -> None:
    packages = home / ".config/yarn/global/node_modules"
    for name in (".bin/tool", "js-tokens/index.js", "keyv/index.js", ".store/a"):
        _file(packages / name)
    assert str(packages) in _seen(home, f"{packages}/.bin")


def test_neither_a_path_nor_a_variable_shows_the_whole_home(home: Path) -> None:
    _file(home / "tool")
    seen = _seen(home, f"{home}:{home}/.local:/", JAVA_HOME=home, VIRTUAL_ENV=f"{home}/.config")
    assert seen == {}


def test_of_a_store_of_keys_only_its_programs_are_shown(home: Path) -> None:
    for name in ("bin/compose", "config.json", "lib/x"):
        _file(home / ".docker" / name)
    seen = _seen(home, f"{home}/.docker/bin", hidden=[f"{home}/.docker"])
    assert seen == {f"{home}/.docker/bin": "on your PATH"}


def test_links_are_followed_where_no_session_can_have_put_them(home: Path) -> None:
    _file(home / "apps/one/app/bin/run")
    _file(home / "work/bin/mine")
    (home / ".local/bin").mkdir(parents=True)
    for folder in (".local/bin", "work/bin"):
        (home / folder / "run").symlink_to(home / "apps/one/app/bin/run")
    path = f"{home}/work/bin"
    assert _seen(home, path, written=[f"{home}/work"]) == {}
    both = _seen(home, f"{path}:{home}/.local/bin", written=[f"{home}/work"])
    assert f"{home}/apps/one/app/bin" in both


def test_links_that_lead_in_circles_come_to_an_end(home: Path) -> None:
    (home / ".a/bin").mkdir(parents=True)
    (home / ".b/bin").mkdir(parents=True)
    (home / ".a/bin/python").symlink_to(home / ".b/bin/python3")
    (home / ".b/bin/python3").symlink_to(home / ".a/bin/python")
    assert set(_seen(home, f"{home}/.a/bin")) == {f"{home}/.a/bin", f"{home}/.b/bin"}


def test_a_pipe_among_programs_holds_nobody_up(home: Path) -> None:
    (home / "bin").mkdir()
    os.mkfifo(home / "bin/pipe")
    assert _seen(home, f"{home}/bin") == {f"{home}/bin": "on your PATH"}


def test_a_script_is_shown_with_its_folder_and_a_file_alone(home: Path) -> None:
    top = home / "work"
    script, key = home / "tools/agent/run.py", home / "tools/agent/key"
    assert with_its_folder(str(script), str(home), str(top)) == str(script.parent)
    assert with_its_folder(str(key), str(home), str(top)) == str(key)
    for near in (home / "run.py", home / "tools/run.py"):
        assert with_its_folder(str(near), str(home), str(top)) == str(near)
