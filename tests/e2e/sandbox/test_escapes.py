"""Every way out that we know, tried from inside, looked for from outside; as root and as a user.

Each is tried without a sandbox first: an attempt that fails by itself proves nothing.
"""

import json
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.sandbox.world import SECRET, SECRETS, USERS, World, a_world

Seen = Callable[[World, str], bool]


def _there(path: str) -> Seen:
    return lambda w, _: os.path.lexists(path.format(w=w))


def _holds(path: str, text: str) -> Seen:
    return lambda w, _: text in Path(path.format(w=w)).read_text()


def _runs_as_owner(path: str) -> Seen:
    def seen(w: World, _: str) -> bool:
        found = Path(path.format(w=w))
        return found.exists() and bool(found.stat().st_mode & stat.S_ISUID)

    return seen


def _says(text: str) -> Seen:
    return lambda _, said: text in said


def _heard(w: World, name: str) -> bool:
    return name in w.services.heard


BREACHES: dict[str, Seen] = {
    "home": _there("{w.home}/planted"),
    "shell_profile": _holds("{w.home}/.bashrc", "planted"),
    "system": _there("/etc/{w.tag}"),
    "programs": _there("/usr/local/bin/{w.tag}"),
    "parent_repository": _there("{w.parent}/planted"),
    "parent_repository_hook": _there("{w.parent}/.git/hooks/pre-commit"),
    "neighbour": _there("{w.base}/planted"),
    "by_symlink": _there("{w.home}/through-a-link"),
    "by_hard_link": _holds("{w.home}/.profile", "planted"),
    "by_rename": _there("{w.home}/moved"),
    "by_proc_self_root": _there("{w.home}/by-proc"),
    "by_proc_one_root": _there("{w.home}/by-init"),
    "by_the_outside_process": _there("{w.home}/by-outside"),
    "by_open_folder": _there("{w.home}/by-folder"),
    "permissions": lambda w, _: (w.home / ".bash_logout").stat().st_mode & 0o777 == 0o777,
    "times": lambda w, _: (w.home / ".inputrc").stat().st_mtime == 1,
    "remove": lambda w, _: not (w.home / ".vimrc").exists(),
    "truncate": lambda w, _: (w.home / ".gitconfig").stat().st_size == 0,
    "kernel_settings": _says("wrote"),
    "control_groups": _there("/sys/fs/cgroup/{w.tag}"),
    "remount": _there("{w.home}/after-remount"),
    "mount": _there("{w.home}/after-mount"),
    "unmount": _holds("{w.project}/.ralph.toml", "after umount"),
    "user_namespace": _there("{w.home}/from-a-namespace"),
    "enter_namespaces": _there("{w.home}/from-their-namespace"),
    "change_root": _there("{w.home}/from-a-cage"),
    "device_node": lambda w, _: (w.project / "disk").is_block_device(),
    "git_config": _holds("{w.project}/.git/config", "appended"),
    "git_config_by_git": _holds("{w.project}/.git/config", "by-git"),
    "git_config_by_rename": _holds("{w.project}/.git/config", "by-rename"),
    "git_hook": _there("{w.project}/.git/hooks/post-checkout"),
    "git_attributes": _there("{w.project}/.git/info/attributes"),
    "git_common_folder": _there("{w.project}/.git/commondir"),
    "git_worktree_config": _there("{w.project}/.git/config.worktree"),
    "git_submodule_config": _there("{w.project}/.git/modules/evil"),
    "git_folder_renamed": _there("{w.project}/.git-away"),
    "settings": _holds("{w.project}/.ralph.toml", 'mode = "off"\n'),
    "settings_by_rename": _holds("{w.project}/.ralph.toml", "by rename"),
    "gates": _there("{w.project}/.ralph/config.sh"),
    "templates": _there("{w.project}/.agents/ralph/agents.sh"),
    "templates_by_rename": _there("{w.project}/.agents-away"),
    "database": lambda w, _: (w.project / ".ralph/progress.db").read_bytes()[:7] == b"planted",
    "database_journal": _there("{w.project}/.ralph/progress.db-journal"),
    "logs": _there("{w.project}/.ralph/runs/run-1-iter-1.log"),
    "state_renamed": _there("{w.project}/.ralph-away"),
    "project_agent_settings": _there("{w.project}/.claude/settings.json"),
    "project_agent_servers": _there("{w.project}/.mcp.json"),
    "persons_agent_settings": _there("{w.home}/.claude/settings.json"),
    "project_editor_settings": _there("{w.project}/.vscode/tasks.json"),
    "project_other_agent_settings": _there("{w.project}/.gemini/mcp.json"),
    "project_git_of_an_editor": _there("{w.project}/.idea/workspace.xml"),
    "project_tool_settings": _there("{w.project}/mise.toml"),
    "project_shell_settings": _there("{w.project}/.envrc"),
    "nested_agent_settings": _there("{w.project}/a/b/.claude/settings.json"),
    "nested_agent_settings_that_were_there": _holds(
        "{w.project}/part/.claude/settings.json", "hooks"
    ),
    "nested_agent_servers": _there("{w.project}/a/c/.mcp.json"),
    "hook_in_the_checkout": _there("{w.project}/.githooks/post-checkout"),
    "git_settings_in_the_checkout": _there("{w.project}/.gitextra"),
    "filter_in_the_checkout": _holds("{w.project}/tools/clean.sh", "planted"),
    "nested_repository": _there("{w.project}/nested/.git"),
    "nested_repository_with_a_hook": _there("{w.project}/hooked/.git"),
    "folder_that_is_a_repository": _there("{w.project}/innocent-folder/HEAD"),
    "folder_with_settings_elsewhere": _there("{w.project}/led-away/HEAD"),
    "repository_that_was_there": _holds("{w.project}/vendored/.git/config", "../evil"),
    "program_with_my_powers": _runs_as_owner("{w.project}/powers"),
    "program_made_with_my_powers": _runs_as_owner("{w.project}/made"),
    "key_ring": _says(SECRET),
    "socket_to_the_host": _says("belongs to no network"),
    "request_ring": _says("made a ring"),
    "trace": _says("traced"),
    "their_environment": _says(SECRET),
    "their_memory": _says("opened"),
    "see_processes": _says("sees"),
    "inherited_files": _says("inherited"),
    **{f"secret_{name}": _says(SECRET) for name in SECRETS},
    "secret_by_proc": _says(SECRET),
    "secret_by_link": _says(SECRET),
    "secret_by_hard_link": _says(SECRET),
    "secret_in_environment": _says(SECRET),
    "system_passwords": _says("bytes of passwords"),
    **{
        name: _says("though it is blocked")
        for name in (
            "program_by_name",
            "program_by_path",
            "program_by_real_path",
            "program_by_copy",
            "program_by_interpreter",
            "program_by_link",
            "program_of_own_rule",
        )
    },
    **{
        name: lambda w, _, name=name: _heard(w, name)  # type: ignore[misc]
        for name in (
            "socket_in_home",
            "socket_in_checkout",
            "socket_in_tmp",
            "socket_in_run",
            "socket_of_docker",
            "socket_without_file",
            "socket_by_a_short_name",
        )
    },
    "kill": lambda w, _: w.outside.poll() is not None,
}

LAST = (
    "git_config_by_rename",
    "settings_by_rename",
    "git_common_folder",
    "templates_by_rename",
    "state_renamed",
    "git_folder_renamed",
    "kill",
)
"""After these nothing is as it was, where there is no sandbox."""
NAMES = [*(name for name in BREACHES if name not in LAST), *LAST]

ONLY_ROOT = frozenset(
    {"system", "programs", "kernel_settings", "control_groups", "remount", "mount", "change_root",
     "device_node", "system_passwords", "enter_namespaces"}
)  # fmt: skip
"""What nobody else could do anyway."""
HARMLESS = frozenset(
    {"inherited_files", "unmount", "remount", "mount", "by_proc_one_root", "socket_to_the_host",
     "request_ring"}
)  # fmt: skip
"""Not shown without a sandbox: there is nothing to get through, or the test's own machine would be
changed."""


@pytest.fixture(scope="module", params=USERS)
def tried(request: pytest.FixtureRequest) -> Iterator[tuple[World, dict[str, str]]]:
    """A world in which everything was tried in the sandbox."""
    with a_world(request.param) as world:
        done = world.sandboxed(*world.attempts(*NAMES))
        assert done.returncode == 0, done.stderr
        yield world, json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_gets_through_the_sandbox(tried: tuple[World, dict[str, str]], name: str) -> None:
    world, said = tried
    assert not BREACHES[name](world, said[name]), said[name]


@pytest.fixture(scope="module", params=USERS)
def bare(request: pytest.FixtureRequest) -> Iterator[tuple[World, dict[str, str]]]:
    """The same without a sandbox."""
    with a_world(request.param) as world:
        names = [name for name in NAMES if name not in HARMLESS and name not in LAST]
        if world.uid != 0:
            names = [name for name in names if name not in ONLY_ROOT]
        done = world.do(*world.attempts(*names), cwd=world.project)
        yield world, json.loads(done.stdout)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in HARMLESS])
def test_every_attempt_would_succeed_without_it(
    bare: tuple[World, dict[str, str]], name: str
) -> None:
    world, said = bare
    if name in LAST:
        with a_world("root" if world.uid == 0 else "user") as other:
            names = ("templates", name) if name == "templates_by_rename" else (name,)
            done = other.do(*other.attempts(*names), cwd=other.project)
            assert BREACHES[name](other, json.loads(done.stdout)[name]), done.stdout
        return
    if world.uid != 0 and name in ONLY_ROOT:
        assert name not in said
        return
    assert BREACHES[name](world, said[name]), said[name]


@pytest.mark.parametrize("user", USERS)
def test_nothing_stays_when_the_command_has_ended(user: str) -> None:
    with a_world(user) as world:
        mark = f"RALPH_TEST_MARK={world.tag}"
        done = world.sandboxed("env", mark, *world.attempts("daemon", "leave_in_tmp"))
        answer = json.loads(done.stdout)
        assert answer == {"daemon": "did: None", "leave_in_tmp": "did: left"}
        assert not _marked(mark)
        assert not list(Path("/tmp").glob(f"{world.tag}.*left"))
        assert not list(Path("/tmp").glob("ralph~*/tmp/" + world.tag + "*"))
        assert not list(Path("/var/tmp").glob(f"{world.tag}*"))


def _marked(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("user", USERS)
def test_what_a_session_is_for_works_in_the_sandbox(user: str) -> None:
    script = (
        "set -e; echo new > new.txt; mkdir src; echo x > src/a; git add new.txt src;"
        " git commit -q -m inside; mkdir -p .ralph/features/login;"
        " echo '# login' > .ralph/features/login/spec.md; echo cached > $XDG_CACHE_HOME/kept;"
        " echo t > $TMPDIR/t; cat .ralph.toml > /dev/null; git log --format=%s"
    )
    with a_world(user) as world:
        done = world.sandboxed("sh", "-c", script)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == ["inside", "first"]
        assert world.git(world.project, "log", "--format=%s").split() == ["inside", "first"]
        assert (world.project / ".ralph/features/login/spec.md").read_text() == "# login\n"
        again = world.sandboxed("sh", "-c", "cat $XDG_CACHE_HOME/kept")
        assert again.stdout == "cached\n"
        assert not (world.home / ".cache/kept").exists()
        status = world.git(world.project, "status", "--porcelain", "--ignored")
        assert ".claude" not in status


@pytest.mark.parametrize("code", [0, 3, 126, 127])
def test_the_exit_code_is_passed_on(code: int) -> None:
    with a_world("user") as world:
        assert world.sandboxed("sh", "-c", f"exit {code}").returncode == code


def test_a_program_that_does_not_exist_is_named() -> None:
    with a_world("user") as world:
        done = world.sandboxed("no-such-program")
        assert done.returncode == 69
        assert done.stderr == "ralph: no-such-program is not installed, or not on PATH\n"


def test_standard_input_and_output_are_the_persons_own() -> None:
    with a_world("user") as world:
        from tests.e2e.ralph_process import RALPH

        done = subprocess.run(
            world.as_user([RALPH, "sandbox", "run", "--", "tr", "a-z", "A-Z"]),
            cwd=world.project,
            env=world.env,
            input="hello",
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "HELLO"
