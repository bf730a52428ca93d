"""Files that a session may have replaced by something else."""

import ast
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ralph
from ralph.core.errors import Busy
from ralph.files import (
    NotRegular,
    append_regular,
    create_regular,
    lock_or_busy,
    open_regular,
    read_regular,
    remove_tree,
    walk,
    write_regular,
)

SOURCE = Path(ralph.__file__).parent

ALLOWED = {
    "files.py": "it is the place for it",
    "adapters/agents/logins.py": "a draft for the owner's eyes only, renamed afterwards",
    "adapters/agents/player.py": "the scripted agent itself, inside a session",
    "adapters/executor/control_group.py": "files of the kernel's control groups",
    "adapters/executor/identity.py": "files of /proc and /etc",
    "adapters/executor/log.py": "opened like a log of a session, and kept open",
    "adapters/executor/own_command.py": "a draft in a folder of Ralph's own",
    "adapters/executor/own_output.py": "a file of /proc",
    "adapters/executor/table.py": "files of /proc",
    "adapters/library/folder.py": "folders, and drafts that must not exist yet",
    "adapters/sandbox/belongings.py": "a lock, which is only locked",
    "adapters/sandbox/desk.py": "drafts that must not exist yet",
    "adapters/sandbox/guard.py": "a list in a folder that no session reaches",
    "adapters/sandbox/launcher.py": "runs inside the sandbox, before the session",
    "adapters/sandbox/proxy.py": "/dev/null",
    "adapters/sandbox/seatbelt.py": "a profile in a folder of Ralph's own",
    "adapters/sandbox/terrain.py": "a file of /proc",
    "adapters/sandbox/traps.py": "a repository's settings, which a mount protects",
    "adapters/sandbox/trying.py": "runs inside the sandbox, to try it",
    "adapters/store/backups.py": "to sync what it has just written",
    "adapters/store/migrations.py": "part of the program",
    "adapters/store/queries.py": "part of the program",
    "adapters/workspace/flush.py": "to sync folders as well as files",
    "adapters/workspace/index.py": "a lock, which is never waited for",
    "adapters/workspace/lock.py": "a lock, which is never waited for",
    "adapters/workspace/locks.py": "to look at a lock, which is never waited for",
    "adapters/workspace/stock.py": "a lock, which is never waited for",
    "adapters/workspace/trunk.py": "a lock, which is never waited for",
    "adapters/executor/usage.py": "files of /proc and of control groups",
    "cli/asking.py": "a file of Ralph's own for an editor",
    "cli/feature/options.py": "named by a person, who may mean a pipe",
    "cli/hook.py": "standard output",
    "cli/streams.py": "/dev/null",
    "cli/task/import_.py": "named by a person, who may mean a pipe",
    "inside/hooking.py": "standard output",
    "ui/outlet.py": "/dev/null",
    "workflows/demo.py": "part of the program, and a new folder",
}
"""Where files are opened in another way, and why that is no risk."""


def test_files_are_opened_in_one_place() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "testing" not in path.parts and any(_opens(path.read_text()))
    }
    assert sorted(found - ALLOWED.keys()) == [], "use ralph.files, which never waits for a pipe"
    assert sorted(ALLOWED.keys() - found) == [], "it opens nothing any more"


def _opens(source: str) -> Iterator[ast.Call]:
    """Calls that open something which may be there already."""
    if not any(word in source for word in ("open(", "_text(", "_bytes(")):
        return  # nothing to look for, and parsing takes its time
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name, text = ast.unparse(node.func), ast.unparse(node)
        is_open = name in ("open", "io.open", "os.open") or name.endswith(
            (".read_text", ".read_bytes", ".write_text", ".write_bytes")
        )
        # What must not exist yet is made by us, and a folder cannot be waited for.
        if is_open and not any(word in text for word in ("O_DIRECTORY", "O_EXCL", "'x'", "'xb'")):
            yield node


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def a_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


OPENERS: list[Callable[[str], object]] = [
    open_regular,
    read_regular,
    create_regular,
    append_regular,
    lambda path: write_regular(path, b"x"),
]


@pytest.mark.parametrize("opens", OPENERS, ids=["open", "read", "create", "append", "write"])
@pytest.mark.parametrize("put", [a_pipe, a_socket, a_link_to_a_device, a_folder, a_link_to_itself])
def test_nothing_but_a_file_is_opened(
    tmp_path: Path, put: Callable[[Path], None], opens: Callable[[str], object]
) -> None:
    put(tmp_path / "it")
    with pytest.raises(OSError, match=r"it'$"):
        opens(str(tmp_path / "it"))


def test_a_pipe_that_somebody_holds_open_is_refused_as_well(tmp_path: Path) -> None:
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    for opens in OPENERS:
        with pytest.raises(NotRegular):
            opens(path)
    os.close(held)


def test_a_file_without_measure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * 11)
    assert read_regular(str(path), most=11) == b"x" * 11
    with pytest.raises(OSError, match="Larger than"):
        read_regular(str(path), most=10)


def test_a_lock_is_not_waited_for_without_end(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with lock_or_busy(path), pytest.raises(Busy, match="another program"), lock_or_busy(path, 0):
        pass
    with lock_or_busy(path, 0):
        pass


def deep(top: Path, levels: int) -> None:
    """A chain of folders whose path is longer than any that can be opened."""
    top.mkdir()
    folder = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("deeper", dir_fd=folder)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


def test_a_folder_of_any_depth_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    deep(top, 1500)
    assert len(list(walk(str(top)))) > 100
    remove_tree(str(top))
    assert not top.exists()
    remove_tree(str(top))


def test_what_was_made_unreadable_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "file").write_text("x")
    outside = tmp_path / "outside"
    outside.mkdir()
    (top / "a" / "link").symlink_to(outside)
    for folder in (top / "a" / "b", top / "a", top):
        folder.chmod(0)
    remove_tree(str(top))
    assert not top.exists()
    assert outside.exists()
