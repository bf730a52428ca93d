"""Where there are no namespaces: Landlock alone. It stops the worst, and says what it does not."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.sandbox.test_escapes import BREACHES, NAMES
from tests.e2e.sandbox.world import USERS, World, a_world

GAPS = frozenset(
    {
        # In the checkout, which can be written as a whole.
        "git_config", "git_config_by_git", "git_config_by_rename", "git_hook", "git_attributes",
        "git_submodule_config", "git_folder_renamed", "settings", "settings_by_rename", "unmount",
        "gates", "templates", "templates_by_rename", "database", "database_journal", "logs",
        "state_renamed", "nested_agent_settings_that_were_there",
        "hook_in_the_checkout", "filter_in_the_checkout",
        # No file is opened for these.
        "permissions", "times",
        "socket_in_home", "socket_in_checkout", "socket_in_tmp", "socket_in_run",
        "socket_of_docker", "socket_by_a_short_name",
        # The machine's processes are one's own.
        "see_processes",
    }
)  # fmt: skip
STOPPED = [name for name in NAMES if name not in GAPS]


@pytest.fixture(scope="module", params=USERS)
def tried(request: pytest.FixtureRequest) -> Iterator[tuple[World, dict[str, str]]]:
    with a_world(request.param, use="landlock") as world:
        done = world.sandboxed(*world.attempts(*STOPPED))
        assert done.returncode == 0, done.stderr
        yield world, json.loads(done.stdout)


@pytest.mark.parametrize("name", STOPPED)
def test_landlock_alone_stops_it(tried: tuple[World, dict[str, str]], name: str) -> None:
    world, said = tried
    assert not BREACHES[name](world, said[name]), said[name]


@pytest.mark.parametrize("user", USERS)
def test_what_it_does_not_stop_is_said(user: str) -> None:
    with a_world(user, use="landlock") as world:
        done = world.sandboxed(
            "sh", "-c", "echo x > new.txt && git add new.txt && git commit -qm new"
        )
        assert done.returncode == 0, done.stderr
        assert "landlock does not stop this: what judges can be changed" in done.stderr
        assert "landlock does not stop this: sockets of other programs" in done.stderr
        assert world.git(world.project, "log", "--format=%s").split() == ["new", "first"]


def test_changed_settings_are_found_afterwards() -> None:
    with a_world("user", use="landlock") as world:
        done = world.sandboxed("sh", "-c", "echo '# mine' >> .ralph.toml; echo x > .mcp.json")
        assert f"{world.project}/.ralph.toml was changed meanwhile" in done.stderr
        assert not (world.project / ".mcp.json").exists()
