"""Each session has a configuration folder of its own, and no login is lost."""

import json
import os
import stat
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.adapters.agents.session_homes import SessionHomes
from ralph.core.toml_text import toml_text
from ralph.ports.agent import AgentHome, ConfigExcerpt, UsageLog

HOME = AgentHome(
    variable="AGENT_HOME",
    folder=".agent",
    credentials=("auth.json", "auth.encrypted"),
    excerpts=(
        ConfigExcerpt(file="config.toml", keys=("provider",)),
        ConfigExcerpt(file="settings.json", keys=("models",)),
    ),
)
LOGIN = {"token": "old"}


class Place:
    """A person's folder, and the folders of sessions."""

    def __init__(self, root: Path) -> None:
        self.theirs = root / "home" / ".agent"
        self.theirs.mkdir(parents=True)
        self.root = root / "tmp"
        self.environ = {"HOME": str(root / "home")}

    def homes(self) -> SessionHomes:
        return SessionHomes(str(self.root), self.environ)

    def give(self, name: str, text: str) -> None:
        path = self.theirs / name
        path.write_text(text)
        os.utime(path, (1000, 1000))

    def login(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.theirs / "auth.json").read_text())
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.give("auth.json", json.dumps(LOGIN))
    return place


def opened(homes: SessionHomes, session: str = "t-1:2") -> Path:
    (variable,) = (variables := homes.create("agent", HOME, session, {}))
    assert variable == "AGENT_HOME"
    return Path(variables[variable])


def test_a_session_gets_the_login_and_how_to_reach_a_model_and_nothing_else(place: Place) -> None:
    place.give("config.toml", 'hook = "evil"\nprovider = "mine"\n')
    place.give("settings.json", '{"hooks": {}, "models": [{"key": "k", "url": "é"}]}')
    place.give("history.jsonl", "private")
    folder = opened(place.homes())
    assert sorted(os.listdir(folder)) == ["auth.json", "config.toml", "settings.json"]
    assert json.loads((folder / "auth.json").read_text()) == LOGIN
    assert tomllib.loads((folder / "config.toml").read_text()) == {"provider": "mine"}
    settings = json.loads((folder / "settings.json").read_text())
    assert settings == {"models": [{"key": "k", "url": "é"}]}


def test_nobody_else_can_read_it(place: Place) -> None:
    folder = opened(place.homes())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "auth.json").stat().st_mode) == 0o600


def test_a_refreshed_login_is_copied_back_and_the_folder_goes(place: Place) -> None:
    homes = place.homes()
    folder = opened(homes)
    (folder / "auth.json").write_text('{"token": "new"}')
    homes.remove()
    assert place.login() == {"token": "new"}
    assert not folder.exists()


@pytest.mark.parametrize("broken", ['{"token": "ne', "", "[]"])
def test_a_login_that_is_not_whole_is_not_copied_back(place: Place, broken: str) -> None:
    homes = place.homes()
    (opened(homes) / "auth.json").write_text(broken)
    homes.remove()
    assert place.login() == LOGIN


@pytest.mark.parametrize("lost", ['{"token": ""}', "{}", '{"tokens": "old"}', '{"token": null}'])
def test_a_session_that_was_logged_out_does_not_log_the_person_out(place: Place, lost: str) -> None:
    homes = place.homes()
    (opened(homes) / "auth.json").write_text(lost)
    homes.remove()
    assert place.login() == LOGIN


def test_a_login_may_grow_and_what_was_never_there_may_stay_away(place: Place) -> None:
    place.give("auth.json", '{"key": null, "tokens": {"access": "a", "id": ""}}')
    homes = place.homes()
    new = {"tokens": {"access": "b"}, "refreshed": "now"}
    (opened(homes) / "auth.json").write_text(json.dumps(new))
    homes.remove()
    assert place.login() == new


def test_a_pipe_in_the_place_of_a_login_is_not_waited_for(place: Place) -> None:
    (place.theirs / "auth.json").unlink()
    os.mkfifo(place.theirs / "auth.json")
    homes = place.homes()
    assert homes.login_files(HOME) == {}
    opened(homes)
    homes.remove()


@pytest.mark.parametrize("plant", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_an_agent_puts_in_the_place_of_its_login_holds_nobody_up(
    place: Place, plant: Callable[[Path], None]
) -> None:
    homes = place.homes()
    login = opened(homes) / "auth.json"
    login.unlink()
    plant(login)
    homes.remove()
    assert place.login() == LOGIN
    assert not login.parent.exists()


def test_a_link_that_an_agent_puts_in_the_place_of_its_login_is_not_followed(place: Place) -> None:
    elsewhere = place.theirs.parent / "elsewhere.json"
    elsewhere.write_text('{"token": "of somebody else"}')
    homes = place.homes()
    login = opened(homes) / "auth.json"
    login.unlink()
    login.symlink_to(elsewhere)
    homes.remove()
    assert place.login() == LOGIN


def test_a_login_that_the_person_keeps_elsewhere_is_refreshed_there(place: Place) -> None:
    elsewhere = place.theirs.parent / "elsewhere.json"
    (place.theirs / "auth.json").rename(elsewhere)
    (place.theirs / "auth.json").symlink_to(elsewhere)
    homes = place.homes()
    (opened(homes) / "auth.json").write_text('{"token": "new"}')
    homes.remove()
    assert json.loads(elsewhere.read_text()) == {"token": "new"}
    assert (place.theirs / "auth.json").is_symlink()


def test_a_refreshed_login_need_not_be_readable_to_be_copied_back(place: Place) -> None:
    place.give("auth.encrypted", "3d:9f")
    homes = place.homes()
    (opened(homes) / "auth.encrypted").write_text("77:c0")
    homes.remove()
    assert (place.theirs / "auth.encrypted").read_text() == "77:c0"
    (opened(homes) / "auth.encrypted").write_text("\n")
    homes.remove()
    assert (place.theirs / "auth.encrypted").read_text() == "77:c0"


def test_a_login_that_a_session_deletes_stays(place: Place) -> None:
    homes = place.homes()
    (opened(homes) / "auth.json").unlink()
    homes.remove()
    assert place.login() == LOGIN


def test_a_newer_login_of_the_person_wins(place: Place) -> None:
    homes = place.homes()
    folder = opened(homes)
    (folder / "auth.json").write_text('{"token": "refreshed"}')
    os.utime(folder / "auth.json", (2000, 2000))
    (place.theirs / "auth.json").write_text('{"token": "logged in anew"}')
    homes.remove()
    assert place.login() == {"token": "logged in anew"}


def test_a_refreshed_login_is_there_for_others_before_the_session_ends(place: Place) -> None:
    homes = place.homes()
    homes.save_credentials()
    folder = opened(homes)
    homes.save_credentials()
    assert place.login() == LOGIN
    for token in ("new", "newer"):
        (folder / "auth.json").write_text(json.dumps({"token": token}))
        later = time.time_ns() + 10**9
        os.utime(folder / "auth.json", ns=(later, later))
        homes.save_credentials()
        assert place.login() == {"token": token}
    assert folder.exists()


@pytest.mark.parametrize("order", [1, -1], ids=["newer first", "older first"])
def test_two_sessions_that_refresh_one_login_leave_the_newer_one(place: Place, order: int) -> None:
    first, second = place.homes(), place.homes()
    one, two = opened(first, "t-1:1"), opened(second, "t-2:1")
    for folder, token, at in ((two, "older", 2000), (one, "newer", 3000)):
        (folder / "auth.json").write_text(json.dumps({"token": token}))
        os.utime(folder / "auth.json", (at, at))
    for homes in (first, second)[::order]:
        homes.remove()
    assert place.login() == {"token": "newer"}


def test_a_person_who_logged_out_meanwhile_stays_logged_out(place: Place) -> None:
    homes = place.homes()
    (opened(homes) / "auth.json").write_text('{"token": "refreshed"}')
    (place.theirs / "auth.json").unlink()
    homes.remove()
    assert not (place.theirs / "auth.json").exists()


def test_what_an_agent_plants_in_its_folder_does_not_reach_the_person(place: Place) -> None:
    homes = place.homes()
    (opened(homes) / "settings.json").write_text('{"hooks": "evil"}')
    homes.remove()
    assert sorted(path.name for path in place.theirs.iterdir()) == ["auth.json"]


def test_after_a_crash_the_refreshed_login_is_saved_and_the_folder_removed(place: Place) -> None:
    folder = opened(place.homes())
    (folder / "auth.json").write_text('{"token": "new"}')
    place.homes().remove_leftovers({"agent": HOME})
    assert place.login() == {"token": "new"}
    assert not folder.exists()


def test_tidying_where_nothing_ever_was_is_fine(place: Place) -> None:
    place.homes().remove_leftovers({"agent": HOME})
    assert place.login() == LOGIN


def test_the_variable_names_the_persons_own_folder_too(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "auth.json").write_text('{"token": "other"}')
    place.environ["AGENT_HOME"] = str(elsewhere)
    homes = place.homes()
    assert homes.login_files(HOME) == {"auth.json": b'{"token": "other"}'}
    assert json.loads((opened(homes) / "auth.json").read_text()) == {"token": "other"}


def test_a_configuration_that_cannot_be_read_is_left_out(place: Place) -> None:
    place.give("config.toml", "provider = = 1")
    place.give("settings.json", "[1]")
    assert os.listdir(opened(place.homes())) == ["auth.json"]
    place.give("settings.json", "[" * 100_000)
    assert os.listdir(opened(place.homes())) == ["auth.json"]


@pytest.mark.skipif(sys.platform == "darwin", reason="the key chain decides there")
def test_without_a_login_the_folder_is_empty(tmp_path: Path) -> None:
    assert os.listdir(opened(Place(tmp_path).homes())) == []


VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"])) | st.booleans() | st.integers(-999, 999),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("aé\n\x7f \"'."), inner),
    max_leaves=8,
)


@given(values=st.dictionaries(st.text('abé. "\\\x7f'), VALUES))
def test_what_is_written_as_toml_reads_back(values: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(values)) == values


def test_what_a_session_needs_is_added_to_what_is_there(place: Place) -> None:
    place.give("settings.json", json.dumps({"models": ["mine"], "hooks": {"Stop": "planted"}}))
    more = {"settings.json": {"hooks": {"Stop": "Ralph's"}}, "new.json": {"a": 1}}
    (folder,) = place.homes().create("agent", HOME, "s", more).values()  # type: ignore[arg-type]
    settings = json.loads((Path(folder) / "settings.json").read_text())
    assert settings == {"models": ["mine"], "hooks": {"Stop": "Ralph's"}}
    assert json.loads((Path(folder) / "new.json").read_text()) == {"a": 1}
    theirs = json.loads((place.theirs / "settings.json").read_text())
    assert theirs["hooks"] == {"Stop": "planted"}, "the person's own file stays as it is"


def test_a_configuration_with_comments_is_read(place: Place) -> None:
    place.give("settings.json", '// managed\n{"models": ["//mine"]}\n')
    settings = json.loads((opened(place.homes()) / "settings.json").read_text())
    assert settings == {"models": ["//mine"]}


LOGGING = msgspec.structs.replace(
    HOME, usage=UsageLog(files="sessions/*/log.jsonl", marker='"usage"')
)


def test_the_usage_that_a_session_writes_down_is_read(place: Place) -> None:
    homes = place.homes()
    (folder,) = map(Path, homes.create("agent", LOGGING, "s", {}).values())
    for name in ("b", "a", "a/deep"):
        (folder / "sessions" / name).mkdir(parents=True, exist_ok=True)
        lines = ({"type": "usage", "of": name}, {"type": "text"}, {"usage": f"last of {name}"})
        text = "\n".join(map(json.dumps, lines))
        (folder / "sessions" / name / "log.jsonl").write_text(text)
    assert [json.loads(line) for line in homes.usage_lines().splitlines()] == [
        {"type": "usage", "of": "a"},
        {"usage": "last of a"},
        {"type": "usage", "of": "b"},
        {"usage": "last of b"},
    ]
    homes.remove()
    assert homes.usage_lines() == b""


def test_a_log_of_usage_that_is_no_file_is_left_alone(place: Place, tmp_path: Path) -> None:
    homes = place.homes()
    (folder,) = map(Path, homes.create("agent", LOGGING, "s", {}).values())
    (tmp_path / "theirs.jsonl").write_text('{"usage": 1}\n')
    for name in ("link", "pipe", "folder/log.jsonl"):
        (folder / "sessions" / name).mkdir(parents=True)
    (folder / "sessions/link/log.jsonl").symlink_to(tmp_path / "theirs.jsonl")
    os.mkfifo(folder / "sessions/pipe/log.jsonl")
    assert homes.usage_lines() == b""


def test_what_a_session_needs_is_added_to_toml_too(place: Place) -> None:
    place.give("config.toml", 'provider = "mine"\n[[hooks]]\ncommand = "planted"\n')
    more = {"config.toml": {"hooks": [{"command": "ralph"}]}, "new.toml": {"a": True}}
    (folder,) = map(Path, place.homes().create("agent", HOME, "s", more).values())  # type: ignore[arg-type]
    assert tomllib.loads((folder / "config.toml").read_text()) == {
        "provider": "mine",
        "hooks": [{"command": "ralph"}],
    }
    assert tomllib.loads((folder / "new.toml").read_text()) == {"a": True}


def test_credentials_in_a_folder_are_copied_and_copied_back(place: Place) -> None:
    nested = msgspec.structs.replace(HOME, credentials=("logins/mine.json",))
    (place.theirs / "logins").mkdir()
    place.give("logins/mine.json", '{"token": "old"}')
    homes = place.homes()
    (folder,) = map(Path, homes.create("agent", nested, "s", {}).values())
    ours = folder / "logins/mine.json"
    assert ours.read_text() == '{"token": "old"}'
    ours.write_text('{"token": "new"}')
    later = ours.stat().st_mtime + 10
    os.utime(ours, (later, later))
    homes.remove()
    assert json.loads((place.theirs / "logins/mine.json").read_text()) == {"token": "new"}
