"""A project's files without a disk."""

from collections.abc import Callable, Iterable

from ralph.core.errors import UnusableData
from ralph.ports.project_files import FileText


class FakeProjectFiles:
    """Files by their paths; those in `troubles` cannot be read."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.troubles: dict[str, str] = {}
        self.times: dict[str, float] = {}
        """When they were written."""

    def read(self, path: str) -> FileText:
        """The text, if there is one."""
        if path in self.troubles:
            return FileText(trouble=f"{path} {self.troubles[path]}")
        return FileText(text=self.pages.get(path))

    def read_bytes(self, path: str) -> bytes | None:
        """The text as UTF-8, if there is one."""
        if path in self.troubles:
            raise UnusableData(f"{path} {self.troubles[path]}")
        text = self.pages.get(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    def exists(self, path: str) -> bool:
        """Also what cannot be read."""
        return path in self.pages or path in self.troubles

    def write(self, path: str, content: bytes) -> None:
        """Nobody else is there; what could not be read makes room."""
        self.troubles.pop(path, None)
        self.pages[path] = content.decode("utf-8", "surrogateescape")

    def write_view(self, path: str, pieces: Iterable[bytes]) -> None:
        """Nobody else is there."""
        self.pages[path] = b"".join(pieces).decode()

    def append_after(self, path: str, more: Callable[[bytes], Iterable[bytes]]) -> None:
        """Nobody else is there."""
        before = self.pages.get(path, "").encode()
        self.pages[path] = (before + b"".join(more(before))).decode()

    def remove(self, path: str) -> None:
        """Gone."""
        self.pages.pop(path, None)

    def changed_at(self, path: str) -> float | None:
        """Long ago, unless somebody says otherwise."""
        return self.times.get(path, 0.0) if path in self.pages else None

    def append(self, path: str, text: str, *, fresh: str) -> None:
        """Nobody else is there."""
        self.pages[path] = (self.pages.get(path) or fresh) + text

    def folders(self, path: str) -> list[str]:
        """What stands between the folder and a file."""
        below = [one.removeprefix(f"{path}/") for one in self.pages if one.startswith(f"{path}/")]
        return sorted({one.partition("/")[0] for one in below if "/" in one})

    def files(self, path: str, suffix: str) -> list[str]:
        """What stands directly in the folder."""
        below = [one.removeprefix(f"{path}/") for one in self.pages if one.startswith(f"{path}/")]
        return sorted(one for one in below if "/" not in one and one.endswith(suffix))

    def change(self, path: str, edit: Callable[[str], str]) -> None:
        """Nobody else is there."""
        self.pages[path] = edit(self.pages.get(path, ""))
