"""A forged index is told from one of git's own."""

import subprocess
from hashlib import sha1
from pathlib import Path

import pytest

from ralph.core.git_index import is_safe_index, shared_index, without_assumptions

FILES = [f"folder{at % 7}/a file {at}.git" for at in range(40)] + ["x" * 5000, ".gitignore", "..x"]


def _index(folder: Path, names: list[str], *options: str, kind: str = "sha1") -> bytes:
    def git(*args: str, stdin: str = "") -> str:
        argv = ("git", "-c", "index.threads=4", *args)
        done = subprocess.run(
            argv, cwd=folder, input=stdin, text=True, check=True, capture_output=True
        )
        return done.stdout.strip()

    git("init", "-q", f"--object-format={kind}")
    empty = git("hash-object", "-w", "--stdin")
    lines = "".join(f"100644 {empty} 0\t{name}\n" for name in names)
    git("update-index", *options, "--index-info", stdin=lines)
    git("update-index", "--force-write-index")
    return (folder / ".git/index").read_bytes()


def _signed(index: bytes) -> bytes:
    return index[:-20] + sha1(index[:-20]).digest()


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_what_git_writes_is_safe(tmp_path: Path, version: str, kind: str) -> None:
    index = _index(tmp_path, FILES, "--index-version", version, kind=kind)
    assert is_safe_index(index)
    assert not is_safe_index(index[:-1])
    assert not is_safe_index(index[:50] + b"x" + index[51:])


def test_nor_is_a_large_one_refused_that_git_reads_side_by_side(tmp_path: Path) -> None:
    index = _index(tmp_path, [f"{at:06}" for at in range(40_000)])
    assert b"IEOT" in index
    assert is_safe_index(index)
    at = index.rindex(b"IEOT") + 20
    moved = index[:at] + (int.from_bytes(index[at : at + 4]) + 72).to_bytes(4) + index[at + 4 :]
    assert not is_safe_index(_signed(moved))
    at = index.rindex(b"EOIE") + 8
    assert not is_safe_index(_signed(index[:at] + b"\0\0\0\x20" + index[at + 4 :]))


@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("-git/hooks/post-checkout", ".git/hooks/post-checkout"),
        ("sub/-GIT", "sub/.GIT"),
        ("sub/git-1/x", "sub/git~1/x"),
        ("--/x", "../x"),
        ("a/--/x", "a/../x"),
        ("-x", "/x"),
        ("file", "fi\0e"),
    ],
)
def test_a_path_that_git_would_not_add_is_not(
    tmp_path: Path, version: str, name: str, forged: str
) -> None:
    index = _index(tmp_path, [name], "--index-version", version)
    assert is_safe_index(index)
    assert not is_safe_index(_signed(index.replace(name.encode(), forged.encode())))


def test_most_of_a_split_index_is_elsewhere(tmp_path: Path) -> None:
    assert shared_index(_index(tmp_path, FILES)) == ""
    name = shared_index(_index(tmp_path, FILES, "--split-index"))
    assert is_safe_index((tmp_path / ".git" / name).read_bytes())


@pytest.mark.parametrize("options", [["2"], ["3"], ["4"], ["4", "--split-index"]])
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_without_assumptions_it_says_the_same(
    tmp_path: Path, options: list[str], kind: str
) -> None:
    index = _index(tmp_path, FILES, "--index-version", *options, kind=kind)

    def listed() -> str:
        argv = ["git", "ls-files", "-s", "-t"]
        return subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    before = listed()
    for known in (b"", index):
        less = without_assumptions(index, known)
        assert is_safe_index(less)
        assert not {b"TREE", b"EOIE", b"IEOT"} & {less[at : at + 4] for at in range(len(less))}
        (tmp_path / ".git/index").write_bytes(less)
        assert listed() == before
    assert without_assumptions(b"junk", b"") == b"junk"
