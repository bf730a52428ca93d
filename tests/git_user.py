"""A person's or an agent's hands in a checkout: what they do with files and with git."""

import os
import subprocess
from pathlib import Path

PROJECT = {
    ".gitignore": b"*.log\n",
    "README.md": b"# A project\n",
    "src/app.py": b"print('hello')\n",
    "src/old name.py": b"one\ntwo\nthree\n",
}
"""What a workspace under test holds: one commit, clean, the project at the top."""


class GitUser:
    """A person's or an agent's hands in a checkout."""

    def __init__(self, top: str) -> None:
        self.top = Path(top)

    def write(self, path: str, content: bytes | str, *, executable: bool = False) -> None:
        """Put a file there, whatever is in the way."""
        file = self.top / path
        if file.is_symlink() or not file.is_file():
            self.remove(path)  # a file is overwritten in place, as most programs do it
        for folder in reversed(file.relative_to(self.top).parents[:-1]):
            if (self.top / folder).is_symlink() or (self.top / folder).is_file():
                (self.top / folder).unlink()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(0o755 if executable else 0o644)

    def link(self, path: str, target: str) -> None:
        """Put a symbolic link there."""
        self.write(path, b"")
        (self.top / path).unlink()
        (self.top / path).symlink_to(target)

    def remove(self, path: str) -> None:
        """Take a file or a folder away."""
        file = self.top / path
        if file.is_symlink() or file.is_file():
            file.unlink()
        elif file.is_dir():
            for child in list(file.iterdir()):
                self.remove(str(child.relative_to(self.top)))
            file.rmdir()

    def git(self, *args: str, check: bool = True) -> str:
        """Use git as a person does."""
        got = subprocess.run(("git", *args), cwd=self.top, capture_output=True, check=False)
        if check and got.returncode:
            raise AssertionError(got.stderr.decode("utf-8", "replace"))
        return got.stdout.decode("utf-8", "surrogateescape")

    def commit(self, message: str = "by hand") -> str:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def files(self) -> dict[str, tuple[str, bytes]]:
        """Every file that git does not ignore, with its kind and its bytes."""
        names = self.git("ls-files", "-z", "-co", "--exclude-standard").split("\0")
        found = {}
        for name in filter(None, names):
            full = os.path.join(self.top, name)
            if os.path.islink(full):
                found[name] = ("link", os.fsencode(os.readlink(full)))
            elif os.path.isfile(full):
                kind = "executable" if os.access(full, os.X_OK) else "file"
                found[name] = (kind, Path(full).read_bytes())
        return found

    def state(self) -> dict[str, object]:
        """Everything that a person would miss if it changed."""
        return {
            "files": self.files(),
            "index": self.git("ls-files", "-s", "-z"),
            "status": self.git("status", "--porcelain=v2", "-z", "--untracked-files=all"),
            "branch": self.git("symbolic-ref", "-q", "HEAD", check=False),
            "head": self.git("rev-parse", "-q", "--verify", "HEAD", check=False),
        }


def a_project(top: Path) -> GitUser:
    """A repository on branch `main` with `PROJECT` in it."""
    top.mkdir(parents=True)
    hands = GitUser(str(top))
    hands.git("init", "-q", "-b", "main")
    for path, content in PROJECT.items():
        hands.write(path, content)
    hands.commit()
    return hands
