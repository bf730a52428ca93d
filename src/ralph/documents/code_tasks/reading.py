"""One code task: what is to be done, after what, and in which files."""

import re
from posixpath import basename
from typing import Final

import msgspec

from ralph.core.safe_text import one_line
from ralph.documents.code_tasks.stamp import Word, parts, read_word
from ralph.documents.encoded import readable
from ralph.documents.markdown import unified

SUFFIX: Final = ".code-task.md"
TITLE: Final = re.compile(r"[ ]{0,3}#[ \t]+(?:(?:code[ -])?task[ \t]*[\d.-]*[ \t]*:)?(.*)", re.I)
BLOCKED_BY: Final = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+)?[*_]{0,2}blocked-by\b(.*)", re.I
)
FILES: Final = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+)?[*_]{0,2}files to modify\b(.*)", re.I
)
ITEM: Final = re.compile(r"[ \t]*[-*+][ \t]+(.*)")
QUOTED: Final = re.compile(r"`([^`\n]+)`")
NOTHING: Final = frozenset({"", "none", "n/a", "-", "nothing", "no", "—", "null"})


class CodeTask(msgspec.Struct, frozen=True, kw_only=True):
    """A file, as values."""

    path: str
    name: str
    """What commands call it: `step01-task-02`, from where it lies."""
    title: str
    body: str
    """Everything but the status, line ends aside."""
    word: Word | None = None
    unknown_word: str = ""
    """What stands in the place of a status, and is none."""
    blocked_by: tuple[str, ...] = ()
    """As it is written: paths, file names or names of tasks."""
    files: tuple[str, ...] = ()
    """What it says that it will modify."""


def name_of(path: str, folder: str) -> str:
    """The name of a code task, from its path below the folder of all. The words behind the number
    may be mended without its becoming another task."""
    inside = path.removeprefix(f"{folder}/").removesuffix(SUFFIX)
    # Whoever begins one folder higher means the same tasks.
    *above, last = inside.removeprefix("implementation/").split("/")
    numbered = re.match(r"(?i)task-\d+(?:\.\d+)?", last)
    return "-".join([*above, numbered[0].lower() if numbered else last])


def read_code_task(path: str, text: str, folder: str) -> CodeTask:
    """Whatever it is, it is a task: nothing in it is needed but its file."""
    pairs, below = parts(text)
    lines = unified(below).split("\n")
    word = read_word(text)
    title, at = _title(lines)
    blockers = pairs.get("blocked-by")
    body = "\n".join(lines[:at] + lines[at + 1 :] if at is not None else lines)
    return CodeTask(
        path=path,
        name=name_of(path, folder),
        title=one_line(readable(title), 200).strip() or _spoken(path),
        body=readable(body).strip(),
        word=word if isinstance(word, Word) else None,
        unknown_word="" if isinstance(word, Word) or word is None else one_line(word, 40),
        blocked_by=_names(blockers) if blockers is not None else _named(lines, BLOCKED_BY),
        files=_named(lines, FILES),
    )


def _title(lines: list[str]) -> tuple[str, int | None]:
    """The first heading of the first rank, and its line."""
    fenced = False
    for at, line in enumerate(lines):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and (found := TITLE.match(line)):
            return found[1].strip().rstrip("#").strip(), at
    return "", None


def _spoken(path: str) -> str:
    """A title for what has none: the words of its name."""
    stem = basename(path).removesuffix(SUFFIX)
    words = re.sub(r"^(?i:task)-\d+(?:\.\d+)?-?", "", stem) or stem
    return words.replace("-", " ").replace("_", " ").strip().capitalize() or stem


def _named(lines: list[str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    """What stands behind such words, or in the list below them."""
    fenced = False
    for at, line in enumerate(lines):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        found = pattern.match(line)
        if fenced or found is None:
            continue
        said = found[1].lstrip("*_ \t")
        if said and not said.startswith(":"):
            continue  # a sentence that only begins like this
        beside = said.removeprefix(":").strip("*_ \t")
        return _names(beside) if beside else tuple(_listed(lines[at + 1 :]))
    return ()


def _listed(lines: list[str]) -> list[str]:
    names: list[str] = []
    for line in lines:
        if not line.strip():
            if names:
                break
            continue
        item = ITEM.match(line)
        if item is None:
            break
        names += _names(item[1])
    return list(dict.fromkeys(names))


def _names(text: str) -> tuple[str, ...]:
    """Several names in a line or in a list; where one is quoted, the rest is words about it."""
    found: list[str] = []
    for line in text.strip().strip("[]").split("\n"):
        item = ITEM.match(line)
        said = (item[1] if item else line).strip()
        for part in said.split(","):
            quoted = QUOTED.search(part)
            # Behind a name people say why: `src/a.py (new)`, `task-01 - the parser`.
            plain = re.split(r"\s+[(\u2013\u2014-]", part.strip(), maxsplit=1)[0]
            bare = (quoted[1] if quoted else plain).strip().strip("\"'*_").strip()
            if bare.lower().rstrip(".") not in NOTHING:
                found.append(bare)
    return tuple(dict.fromkeys(found))
