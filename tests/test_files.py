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
    names_in,
    open_lock,
    open_regular,
    read_regular,
    read_start,
    remove_tree,
    walk,
    write_regular,
)

SOURCE = Path(ralph.__file__).parent

ALLOWED = {
    "files.py": "it is the place for it",
    "adapters/agents/scripted_player.py": "the scripted agent itself, inside a session",
    "adapters/executor/child_process.py": "opened like a log of a session, and kept open",
    "adapters/executor/command_server.py": "/dev/null, and pipes of our own",
    "adapters/executor/process_table.py": "files of /proc",
    "adapters/project_files/folder.py": "folders, and drafts that must not exist yet",
    "adapters/sandbox/tamper_check.py": "a list in a folder that no session reaches",
    "adapters/sandbox/command_server.py": "files of /proc, inside the sandbox",
    "adapters/sandbox/launcher.py": "runs inside the sandbox, before the session",
    "adapters/sandbox/domain_proxy.py": "/dev/null",
    "adapters/sandbox/seatbelt.py": "a profile in a folder of Ralph's own",
    "adapters/sandbox/resolved_paths.py": "a file of /proc",
    "adapters/sandbox/planted_files.py": "a repository's settings, which a mount protects",
    "adapters/sandbox/escape_attempts.py": "runs inside the sandbox, to try it",
    "adapters/postgres/migrations.py": "part of the program",
    "adapters/sqlite/migrations.py": "part of the program",
    "store/database.py": "part of the program",
    "adapters/workspace/git_index.py": "a lock, which is never waited for",
    "git_layout.py": "a pipe that git waits for, without waiting",
    "adapters/workspace/locks.py": "a lock, which is never waited for",
    "adapters/executor/resource_usage.py": "files of /proc and of control groups",
    "cli/hook.py": "standard output",
    "cli/prompts.py": "a file of Ralph's own for an editor, and one that a user names",
    "cli/standard_streams.py": "/dev/null",
    "core/policy/commands.py": "reads the text of a command, not a file",
    "inside/socket_client.py": "standard output",
    "ui/output_stream.py": "/dev/null",
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
        # `ProjectFiles.read_bytes` uses `ralph.files` itself.
        is_open = is_open and (not name.endswith(".read_bytes") or "pathlib" in source)
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
    open_lock,
    lambda path: write_regular(path, b"x"),
]


@pytest.mark.parametrize(
    "opens", OPENERS, ids=["open", "read", "create", "append", "lock", "write"]
)
@pytest.mark.parametrize("put", [a_pipe, a_socket, a_link_to_a_device, a_folder, a_link_to_itself])
def test_nothing_but_a_file_is_opened(
    tmp_path: Path, put: Callable[[Path], None], opens: Callable[[str], object]
) -> None:
    put(tmp_path / "it")
    with pytest.raises(OSError, match=r"it'$"):
        opens(str(tmp_path / "it"))


def test_a_name_with_a_zero_byte_is_no_file() -> None:
    with pytest.raises(OSError, match="Not a regular file"):
        open_regular("a\0b")
    assert read_start("a\0b", 10) == b""
    assert names_in("a\0b") == []


def test_a_pipe_that_somebody_holds_open_is_refused_as_well(tmp_path: Path) -> None:
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    for opens in OPENERS:
        with pytest.raises(NotRegular, match="Not a regular file"):
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
