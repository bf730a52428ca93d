"""What a disk holds after a power cut: a model, fed with the recorded system calls of a real run.

`strace` records every write, rename, link, unlink and sync of a whole process tree. Played back,
they give two trees for each sync: what is there whatever happens, and what may be there at worst.

- JOURNALED, as ext4 and xfs do it: names change in order and reach the disk without the data that
  they name. Data that nobody has synced is gone: a new file is empty, an old one is as it was.
- NAMED, as POSIX has it: a new, renamed or removed name is on the disk only when its folder was
  synced, and data only when the file was.

Truncating counts at once. Files that are mapped into memory (SQLite's `-shm`) are not recorded;
nobody needs them after a crash. `Recording.check` compares the model with the real tree.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

CALLS = (
    "open,openat,creat,write,pwrite64,writev,pwritev,ftruncate,truncate,rename,renameat,renameat2,"
    "link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fsync,fdatasync,syncfs,sync,chdir,fchdir,"
    "clone,clone3,fork,vfork,copy_file_range,sendfile"
)
LINE = re.compile(r"^(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))$", re.DOTALL)
FD = re.compile(r"^(?:\d+|AT_FDCWD)<(.*?)>(?:\(deleted\))?$")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
FORKED = re.compile(r"^(\d+) .*?(?:clone3?|v?fork)(?:\(| resumed).*\) += (\d+)")
RESULT = re.compile(r"\) += (-?\d+)")


class Node:
    """A file or a folder: as processes see it, and as the disk has it."""

    def __init__(self, *, is_folder: bool) -> None:
        self.is_folder = is_folder
        self.data, self.synced = bytearray(), b""
        self.names: dict[str, Node] = {}
        self.synced_names: dict[str, Node] = {}

    def sync(self) -> None:
        self.synced, self.synced_names = bytes(self.data), dict(self.names)


class Model(Enum):
    JOURNALED = "journaled"
    NAMED = "named"


class Disk:
    """One tree of files."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.top = Node(is_folder=True)
        for folder, names, files in os.walk(root):
            node = self.find(folder)
            assert node is not None
            for name in names:
                node.names[name] = Node(is_folder=True)
            for name in files:
                made = node.names[name] = Node(is_folder=False)
                made.data[:] = Path(folder, name).read_bytes()
            self._sync_below(node)
        self._sync_below(self.top)

    def _sync_below(self, node: Node) -> None:
        node.sync()
        for one in node.names.values():
            self._sync_below(one)

    def sync_all(self) -> None:
        self._sync_below(self.top)

    def _parts(self, path: str) -> list[str] | None:
        path = os.path.normpath(path)
        if path != self.root and not path.startswith(self.root + "/"):
            return None
        return [part for part in path[len(self.root) :].split("/") if part]

    def find(self, path: str) -> Node | None:
        parts = self._parts(path)
        node: Node | None = self.top if parts is not None else None
        for part in parts or ():
            node = node.names.get(part) if node is not None else None
        return node

    def folder_of(self, path: str) -> tuple[Node, str] | None:
        parts = self._parts(path)
        folder = self.find(os.path.dirname(os.path.normpath(path))) if parts else None
        return (folder, parts[-1]) if parts and folder is not None else None

    def write_to(self, target: Path, model: Model) -> None:
        """The tree as it is after a power cut now."""
        shutil.rmtree(target, ignore_errors=True)
        self._write(self.top, target, model)

    def _write(self, node: Node, target: Path, model: Model) -> None:
        if not node.is_folder:
            target.write_bytes(node.synced)
            return
        target.mkdir()
        names = node.names if model is Model.JOURNALED else node.synced_names
        for name, one in names.items():
            if not name.endswith("-shm"):
                self._write(one, target / name, model)


class Recording:
    """The system calls of a command, played back one by one."""

    def __init__(self, root: Path, trace: Path) -> None:
        self.disk = Disk(root)
        self.trace = trace
        self.cwd: dict[str, str] = {}
        self.parents: dict[str, str] = {}
        self.begun: dict[str, tuple[str, str]] = {}

    @staticmethod
    def command(trace: Path) -> list[str]:
        """What goes before the command to be recorded."""
        options = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "100000000", "-e", "signal=none"]
        return ["strace", *options, "-o", str(trace), "-e", f"trace={CALLS}", "--"]

    def syncs(self, cwd: Path) -> Iterator[tuple[str, str]]:
        """Stop before and after every sync of something in the tree: `before` or `after`, and the
        path that is synced."""
        with self.trace.open(encoding="ascii", errors="replace") as lines:
            # A child may be at work before the call returns that made it.
            made = (FORKED.match(line) for line in lines)
            self.parents = {one.group(2): one.group(1) for one in made if one is not None}
        with self.trace.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                found = LINE.match(line.rstrip("\n"))
                if found is None:
                    continue
                pid, resumed, rest, name, args = found.groups()
                if pid not in self.cwd:
                    self.cwd[pid] = self.cwd.get(self.parents.get(pid, ""), str(cwd))
                if resumed:
                    name, args = self.begun.pop(pid, (resumed, ""))
                    args += rest
                elif args.endswith("<unfinished ...>"):
                    self.begun[pid] = (name, args.removesuffix("<unfinished ...>"))
                    continue
                yield from self._play(pid, name, args)

    def _play(self, pid: str, name: str, args: str) -> Iterator[tuple[str, str]]:
        result = RESULT.search(args)
        if result is None or result.group(1).startswith("-"):
            return
        # Strings are all in hexadecimal.
        given = [one.strip() for one in args[: result.start()].split(",") if one.strip()]
        if name in ("fork", "vfork", "clone", "clone3"):
            self.cwd.setdefault(result.group(1), self.cwd[pid])
        elif name == "chdir":
            self.cwd[pid] = self._path(pid, given[0])
        elif name == "fchdir":
            self.cwd[pid] = _of_fd(given[0])
        elif name in ("fsync", "fdatasync", "syncfs", "sync"):
            yield from self._sync(name, _of_fd(given[0]) if given else "")
        else:
            self._change(pid, name, given, int(result.group(1)))

    def _sync(self, name: str, path: str) -> Iterator[tuple[str, str]]:
        node = self.disk.find(path)
        if name in ("syncfs", "sync") or node is not None:
            yield "before", path
            if name in ("syncfs", "sync"):
                self.disk.sync_all()
            elif node is not None:
                node.sync()
            yield "after", path

    def _change(self, pid: str, name: str, given: list[str], result: int) -> None:  # noqa: C901
        # One case for each call; nothing would become clearer by tearing them apart.
        match name:
            case "open" | "creat":
                flags = given[1] if name == "open" else "O_CREAT|O_TRUNC"
                self._open(self._path(pid, given[0]), flags)
            case "openat":
                self._open(self._at(given[0], given[1]), given[2])
            case "write" | "pwrite64":
                at = int(given[3]) if name == "pwrite64" else None
                self._write(_of_fd(given[0]), _bytes(given[1])[:result], at)
            case "writev" | "pwritev":
                data = b"".join(_bytes(f'"{one}"') for one in TEXT.findall(" ".join(given[1:])))
                at = int(given[-1]) if name == "pwritev" else None
                self._write(_of_fd(given[0]), data[:result], at)
            case "ftruncate" | "truncate":
                path = _of_fd(given[0]) if name == "ftruncate" else self._path(pid, given[0])
                self._truncate(path, int(given[1]))
            case "rename":
                self._rename(self._path(pid, given[0]), self._path(pid, given[1]))
            case "renameat" | "renameat2":
                self._rename(self._at(given[0], given[1]), self._at(given[2], given[3]))
            case "link":
                self._link(self._path(pid, given[0]), self._path(pid, given[1]))
            case "linkat":
                self._link(self._at(given[0], given[1]), self._at(given[2], given[3]))
            case "unlink" | "rmdir":
                self._unlink(self._path(pid, given[0]))
            case "unlinkat":
                self._unlink(self._at(given[0], given[1]))
            case "mkdir":
                self._make(self._path(pid, given[0]), is_folder=True)
            case "mkdirat":
                self._make(self._at(given[0], given[1]), is_folder=True)
            case "sendfile" if source := self.disk.find(_of_fd(given[1])):
                start = int(given[2].removeprefix("[").partition("]")[0])
                self._write(_of_fd(given[0]), bytes(source.data[start : start + result]), None)
            case _:
                assert self.disk.find(_of_fd(given[0])) is None, f"{name} is not modelled"

    def _path(self, pid: str, text: str) -> str:
        return os.path.join(self.cwd[pid], os.fsdecode(_bytes(text)))

    def _at(self, folder: str, text: str) -> str:
        return os.path.join(_of_fd(folder), os.fsdecode(_bytes(text)))

    def _open(self, path: str, flags: str) -> None:
        if "O_CREAT" in flags and self.disk.find(path) is None:
            self._make(path, is_folder=False)
        if "O_TRUNC" in flags:
            self._truncate(path, 0)

    def _make(self, path: str, *, is_folder: bool) -> None:
        if found := self.disk.folder_of(path):
            found[0].names[found[1]] = Node(is_folder=is_folder)

    def _write(self, path: str, data: bytes, at: int | None) -> None:
        node = self.disk.find(path)
        if node is None or node.is_folder:
            return
        # Nobody here writes in the middle of a file without saying where.
        start = len(node.data) if at is None else at
        node.data.extend(bytes(max(0, start - len(node.data))))
        node.data[start : start + len(data)] = data

    def _truncate(self, path: str, size: int) -> None:
        if node := self.disk.find(path):
            node.data = node.data[:size] + bytes(max(0, size - len(node.data)))
            node.synced = node.synced[:size]

    def _rename(self, old: str, new: str) -> None:
        source, target = self.disk.folder_of(old), self.disk.folder_of(new)
        if source and target and source[1] in source[0].names:
            target[0].names[target[1]] = source[0].names.pop(source[1])

    def _link(self, old: str, new: str) -> None:
        node, target = self.disk.find(old), self.disk.folder_of(new)
        if node is not None and target:
            target[0].names[target[1]] = node

    def _unlink(self, path: str) -> None:
        if found := self.disk.folder_of(path):
            found[0].names.pop(found[1], None)

    def check(self, root: Path) -> None:
        """The model is right: it has come to the tree that is really there."""
        real = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        ours = dict(self._files(self.disk.top, root))
        for path in {*real, *ours}:
            if not path.name.endswith("-shm"):
                assert ours.get(path) == real.get(path), f"{path} is not modelled well"

    def _files(self, node: Node, path: Path) -> Iterator[tuple[Path, bytes]]:
        if not node.is_folder:
            yield path, bytes(node.data)
        for name, one in node.names.items():
            yield from self._files(one, path / name)


def record(command: list[str], root: Path, trace: Path, env: dict[str, str]) -> Recording:
    """Run a command in a tree of files, to its end."""
    recording = Recording(root, trace)
    done = subprocess.run(
        [*Recording.command(trace), *command],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return recording


def _of_fd(text: str) -> str:
    found = FD.match(text)
    if found is None:
        return ""
    path = os.fsdecode(bytes.fromhex(found.group(1).replace("\\x", "")))
    return "" if path.endswith(" (deleted)") else path


def _bytes(text: str) -> bytes:
    found = TEXT.match(text)
    assert found is not None, text[:80]
    return bytes.fromhex(found.group(1).replace("\\x", ""))
