"""Tasks in the files of others: a PRD, `prd.json`, `implementation_plan.json`, GitHub's issues."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from ralph.core.errors import UnusableData
from ralph.core.json_text import NOT_JSON
from ralph.core.lengths import LARGEST_DOCUMENT, LONGEST_TITLE, too_long
from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.documents.encoded import decode
from ralph.documents.stories.checking import require_usable
from ralph.documents.stories.reading import read_prd
from ralph.documents.task_lines import LARGEST, Numbered, TaskLine, flaw_of

ISSUE: Final = re.compile(r"(?im)^[\s*_-]*(?:depends on|blocked by)[\s:*_]*(.*)$")
NUMBER: Final = re.compile(r"#([0-9]+)\b")
DONE: Final = frozenset({"done", "complete", "completed", "closed"})


def read_foreign(data: bytes, name: str, feature: str) -> list[Numbered] | None:
    """The tasks of a file, if it is of one of these kinds; None: it is none of them. Tasks that
    belong together are put into `feature`."""
    if name.lower().endswith((".md", ".markdown")):
        return _prd(data, name, feature)
    shape = _shape(data, name)
    if shape is None:
        return None
    entries, read = shape
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            if not isinstance(entry, dict):
                raise ValueError("it is no object")
            task = read(entry, feature)
            if flaw := flaw_of(task):
                raise ValueError(flaw)
        except (ValueError, TypeError, KeyError, msgspec.ValidationError) as error:
            raise UnusableData(f"{name}, entry {number}: {_said(error)}") from error
        found.append(Numbered(number, task))
    known = {one.task.alias for one in found}
    return [one._replace(task=_with_known_blockers(one.task, known, read)) for one in found]


def _said(error: Exception) -> str:
    text = str(error)
    return f"there is no {text}" if isinstance(error, KeyError) else text


def _with_known_blockers(
    task: TaskLine, known: set[str | None], read: "Callable[..., TaskLine]"
) -> TaskLine:
    """An issue may name others that are not in the list, since they are closed."""
    if read is not _issue:
        return task
    blockers = tuple(name for name in task.blockers if name in known and name != task.alias)
    return msgspec.structs.replace(task, blockers=blockers)


def _shape(
    data: bytes, name: str
) -> "tuple[Sequence[Any], Callable[[dict[str, Any], str], TaskLine]] | None":
    try:
        whole = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise UnusableData(f"{name}: it is nested too deeply") from error
    except NOT_JSON as error:
        if data.strip() and "truncated" in str(error):
            # Also a single line would be of no use.
            raise UnusableData(f"{name}: it is not whole, but ends in the middle") from error
        return None
    if isinstance(whole, list):
        return whole, _issue
    if not isinstance(whole, dict):
        return None
    for key, read in SHAPES.items():
        if isinstance(whole.get(key), list):
            return whole[key], read
    if "title" not in whole and name.lower().endswith(".json"):
        raise UnusableData(f"{name}: there is no list of {' or '.join(SHAPES)} in it")
    return None


def _prd(data: bytes, name: str, feature: str) -> list[Numbered]:
    if len(data) > LARGEST_DOCUMENT:
        raise UnusableData(f"{name} is larger than {LARGEST_DOCUMENT // 1024} KiB")
    prd = read_prd(decode(data).text)
    require_usable(prd, name)
    return [
        Numbered(
            story.line,
            TaskLine(
                title=story.title,
                description=story.body,
                alias=story.id,
                feature=feature,
                priority=place,
                status=Status.DONE if story.is_ticked else Status.PENDING,
                blockers=story.needs,
            ),
        )
        for place, story in enumerate(prd.stories, 1)
    ]


def _user_story(entry: dict[str, Any], feature: str) -> TaskLine:
    return _line(
        entry,
        feature,
        title=entry["title"],
        done=entry.get("passes") is True,
        criteria=entry.get("acceptanceCriteria"),
    )


def _story(entry: dict[str, Any], feature: str) -> TaskLine:
    return _line(
        entry,
        feature,
        title=entry["title"],
        done=entry.get("status") in DONE,
        criteria=entry.get("acceptanceCriteria"),
        blockers=entry.get("dependsOn"),
    )


def _planned(entry: dict[str, Any], feature: str) -> TaskLine:
    description = _text(entry["description"])
    title = entry.get("title") or description.strip().partition("\n")[0]
    task = _line(
        entry,
        feature,
        title=title,
        done=entry.get("status") in DONE,
        criteria=entry.get("verification_criteria") or entry.get("acceptance_criteria"),
        blockers=entry.get("dependencies"),
    )
    if entry.get("status") != "blocked":
        return task
    reason = one_line(_text(entry.get("reason") or entry.get("notes") or "it came so"), 500)
    return msgspec.structs.replace(task, status=Status.BLOCKED, reason=reason)


SHAPES: Final = {"userStories": _user_story, "stories": _story, "tasks": _planned}
"""How the objects of a list are read, by its name."""


def _issue(entry: dict[str, Any], feature: str) -> TaskLine:
    del feature
    number = entry["number"]
    if not isinstance(number, int):
        raise ValueError("its number is none")
    body = _text(entry.get("body") or "")
    named = [n for line in ISSUE.findall(body) for n in NUMBER.findall(line)]
    labels = [one["name"] for one in entry.get("labels") or () if isinstance(one, dict)]
    about = [f"Labels: {', '.join(map(str, labels))}"] if labels else []
    about += [str(entry["url"])] if entry.get("url") else []
    return TaskLine(
        title=_title(entry["title"]),
        description="\n\n".join(filter(None, (body.strip(), *about))),
        alias=f"GH-{number}",
        feature="issues",
        status=Status.DONE if _text(entry.get("state") or "").lower() in DONE else Status.PENDING,
        blockers=tuple(dict.fromkeys(f"GH-{n}" for n in named)),
    )


def _line(
    entry: dict[str, Any],
    feature: str,
    *,
    title: object,
    done: bool,
    criteria: object,
    blockers: object = None,
) -> TaskLine:
    boxes = "\n".join(f"- [ ] {one_line(_text(one))}" for one in _list(criteria))
    body = _text(entry.get("description") or "").strip()
    return TaskLine(
        title=_title(title),
        description="\n\n".join(filter(None, (body, boxes))),
        alias=_text(entry["id"]).strip(),
        feature=feature,
        priority=_whole(entry.get("priority", 0)),
        status=Status.DONE if done else Status.PENDING,
        blockers=tuple(dict.fromkeys(_text(one) for one in _list(blockers))),
    )


def _title(value: object) -> str:
    text = _text(value)
    if flaw := too_long("the title", text, LONGEST_TITLE):
        raise ValueError(flaw)
    title = one_line(text, 200).strip()
    if not title:
        raise ValueError("its title is empty")
    return title


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{one_line(repr(value), 40)} is no text")


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
        raise ValueError(f"{one_line(repr(value), 40)} is no priority")
    return value


def _list(value: object) -> Iterable[object]:
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    raise ValueError(f"{one_line(repr(value), 40)} is no list")
