"""A PRD: stories with boxes, which people and agents edit and Ralph ticks; and its plan.

A Markdown parser decides what a heading is: code, comments and quotations contain no stories.
Positions are characters from the beginning of the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import Missing, UnusableData
from ralph.core.graph import find_cycle
from ralph.core.safe_text import first_few, one_line
from ralph.documents.markdown import blocks, first_line, line_starts, rank_of, unified
from ralph.documents.text_encoding import readable

if TYPE_CHECKING:
    from markdown_it.token import Token

STORY: Final = re.compile(r"\[([\sxX])\][ \t]+(US-[0-9]+):[ \t]*(\S.*)")
NEARLY: Final = re.compile(r"(\[[^\]\s]{0,3}\s*\])?[ \t]*[*_`]*(US[-_ ]?[0-9]+)\b[*_`]*(.*)", re.I)
GLUED: Final = re.compile(r"[ \t]*#+(\[[^\]]{0,3}\].*)")
BOXED: Final = re.compile(r"\[[ xX]?\][ \t]+\S")
RANK: Final = 3
"""The number of # of a story."""
PATTERN: Final = "### [ ] US-001: Title"
CRITERION: Final = re.compile(r"\[([^\S\n]|[xX])\]\s+(\S.*)", re.S)
DEPENDS: Final = re.compile(
    r"[*_]*depends[ \t]+on(?:[*_]*[ \t]*:[*_]*|[*_ \t]+(?=US-[0-9]))(.*)", re.I
)
"""The colon may be forgotten where a story follows."""
PLANNED: Final = re.compile(r"(?:\[[\sxX]\]\s+)?[*_`]*(US-[0-9]+)\b[*_`]*[\s:.–—-]*(.*)")  # noqa: RUF001
NAME: Final = re.compile(r"\bUS-[0-9]+\b")
NOTHING: Final = frozenset({"none", "nothing", "no story", "n/a", "-", "–", "—"})  # noqa: RUF001


class Box(msgspec.Struct, frozen=True, kw_only=True):
    at: int
    """The position of the mark inside it."""
    ticked: bool


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    box: Box
    line: int


class Dependency(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    line: int = 0


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """`### [ ] US-001: Title`, and the text below it up to the next heading of its rank."""

    id: str
    title: str
    box: Box
    line: int = 0
    start: int = 0
    end: int = 0
    body: str = ""
    """The text below the heading, with all boxes cleared."""
    criteria: tuple[Criterion, ...] = ()
    depends_on: tuple[Dependency, ...] = ()
    files: tuple[str, ...] = ()
    """The files that it will modify, if its kind of document names them."""

    @property
    def is_ticked(self) -> bool:
        return self.box.ticked

    @property
    def has_all_criteria(self) -> bool:
        """Whether there are criteria, and all of them are ticked."""
        return bool(self.criteria) and all(one.box.ticked for one in self.criteria)

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the stories that must be done before, each once."""
        return tuple(dict.fromkeys(one.id for one in self.depends_on))


NO_STORY: Final = Story(id="", title="", box=Box(at=0, ticked=False))
"""In place of a story that a version of the document does not have."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is probably read in another way than it was meant."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class Prd(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    stories: tuple[Story, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def story(self, name: str) -> Story | None:
        return next((one for one in self.stories if one.id == name), None)

    def by_id(self) -> dict[str, Story]:
        """All stories in their order; of those with the same id, the first."""
        found: dict[str, Story] = {}
        for one in self.stories:
            found.setdefault(one.id, one)
        return found

    def block(self, story: Story) -> str:
        """The text of a story, with its heading and \\n as line ends."""
        return unified(self.text[story.start : story.end]).rstrip() + "\n"


Name = tuple[str, int]
"""A criterion's text, and its number among those with the same text."""


def named_criteria(story: Story) -> Iterator[tuple[Name, Criterion]]:
    """The criteria, each with a name that does not depend on its place."""
    seen: dict[str, int] = {}
    for one in story.criteria:
        number = seen[one.text] = seen.get(one.text, 0) + 1
        yield (one.text, number), one


def boxes_of(story: Story) -> dict[Name, bool]:
    return {name: one.box.ticked for name, one in named_criteria(story)}


def moved_criteria(before: Story, now: Story, *, ticked: bool) -> tuple[Criterion, ...]:
    """The criteria that are ticked (or cleared) now and were not before."""
    then = boxes_of(before)
    return tuple(
        one
        for name, one in named_criteria(now)
        if one.box.ticked is ticked and then.get(name, False) is not ticked
    )


def all_boxes(story: Story) -> tuple[Box, ...]:
    return (story.box, *(one.box for one in story.criteria))


def with_boxes(text: str, wanted: Mapping[int, bool]) -> str:
    """The text with boxes ticked (True) or cleared. A box that is right keeps its mark."""
    parts, last = [], 0
    for at, ticked in sorted(wanted.items()):
        if text[at].isspace() is ticked:
            parts += [text[last:at], "x" if ticked else " "]
            last = at + 1
    return "".join([*parts, text[last:]])


# Reading


def read_prd(text: str) -> Prd:
    """The stories of a document, in its order, and remarks about doubtful lines."""
    reader = _Reader(text)
    for at, token in enumerate(reader.tokens):
        reader.take(at, token)
    reader.close(len(text))
    return Prd(text=text, stories=tuple(reader.stories), remarks=tuple(reader.remarks))


class _Reader:
    """Reads the tokens once. A story ends at a heading of its rank or above."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        self.tokens = blocks(text)
        self.stories: list[Story] = []
        self.remarks: list[Remark] = []
        self.current: Story | None = None
        self.criteria: list[Criterion] = []
        self.depends_on: list[Dependency] = []
        self.quotes = 0

    def take(self, at: int, token: "Token") -> None:
        if token.type == "blockquote_open":
            self.quotes += 1
        elif token.type == "blockquote_close":
            self.quotes -= 1
        elif token.type == "heading_open" and token.level == 0:
            self._heading(token, self.tokens[at + 1].content)
        elif token.type == "heading_open" and not self.quotes:
            self._listed_heading(token, self.tokens[at + 1].content)
        elif token.type == "inline" and not self.quotes:
            self._doubt(token)
            if self.current is not None:
                self._words(self.tokens[max(0, at - 2) : at], token)

    def _heading(self, token: "Token", content: str) -> None:
        rank, line = rank_of(token), first_line(token)
        if rank <= RANK:
            self.close(self.starts[line])
        found = story_of(rank, content)
        if found is not None:
            name, title, ticked = found
            self.current = Story(
                id=name,
                title=one_line(readable(title)),
                box=Box(at=self._mark(line), ticked=ticked),
                line=line + 1,
                start=self.starts[line],
            )
        elif wrong := likely_story(rank, content):
            self._remark(line, one_line(readable(wrong), 200))

    def _listed_heading(self, token: "Token", content: str) -> None:
        if story_of(rank_of(token), content) is not None:
            why = "it is part of a list, so it is not read as a story; let it begin its line"
            self._remark(first_line(token), why)

    def _doubt(self, token: "Token") -> None:
        if "#[" in token.content:
            for number, line in enumerate(token.content.split("\n"), first_line(token)):
                if wrong := without_space(line):
                    self._remark(number, one_line(readable(wrong), 200))

    def _words(self, before: Sequence["Token"], token: "Token") -> None:
        line = first_line(token)
        if [one.type for one in before] == ["list_item_open", "paragraph_open"]:
            found = CRITERION.fullmatch(token.content)
            if found is not None:
                box = Box(at=self._mark(line), ticked=not found[1].isspace())
                text = one_line(readable(found[2]))
                self.criteria.append(Criterion(text=text, box=box, line=line + 1))
                return
        for number, words in enumerate(token.content.split("\n"), line):
            found = DEPENDS.match(words.strip())
            if found is not None:
                self._dependencies(number, found[1])

    def _dependencies(self, line: int, words: str) -> None:
        names = NAME.findall(words)
        self.depends_on += [Dependency(id=name, line=line + 1) for name in names]
        if not names and words.strip("*_. \t").casefold() not in NOTHING:
            self._remark(line, "`Depends on:` names no story; write: Depends on: US-001, US-002")

    def close(self, end: int) -> None:
        story = self.current
        if story is None:
            return
        marks = {one.box.at - story.start: False for one in self.criteria}
        _, _, body = unified(with_boxes(self.text[story.start : end], marks)).partition("\n")
        self.stories.append(
            replace(
                story,
                end=end,
                body=readable(body).strip("\n"),
                criteria=tuple(self.criteria),
                depends_on=tuple(self.depends_on),
            )
        )
        self.current, self.criteria, self.depends_on = None, [], []

    def _mark(self, line: int) -> int:
        """The position of the mark in a line's box. Only #, bullets and spaces come before it."""
        return self.text.index("[", self.starts[line]) + 1

    def _remark(self, line: int, message: str) -> None:
        self.remarks.append(Remark(line=line + 1, message=message))


def story_of(rank: int, content: str) -> tuple[str, str, bool] | None:
    """The id, the title, and whether the story is ticked; None for another heading."""
    found = STORY.fullmatch(content)
    if rank != RANK or found is None:
        return None
    return found[2], found[3].strip(), not found[1].isspace()


def without_space(line: str) -> str:
    """The same for a line that is not a heading, since no space follows its #."""
    found = GLUED.match(line)
    return likely_story(RANK, found[1]) if found is not None else ""


def likely_story(rank: int, content: str) -> str:
    """How to write a heading that was probably meant to be a story; empty for others."""
    found = NEARLY.match(content)
    if found is None:
        boxed = rank == RANK and BOXED.match(content)
        return f"a story needs an id: {PATTERN}" if boxed else ""
    box, name, rest = found.groups()
    if not box and (rank != RANK or not rest.lstrip("*_` ").startswith(":")):
        return ""
    title = rest.strip("*_`:.- \t") or "Title"
    name = f"US-{name[2:].lstrip('-_ ')}"
    return f"it is not read as a story; write: ### [ ] {name}: {title}"


def flaws(prd: Prd) -> tuple[Remark, ...]:
    """Why the stories cannot be built, in the order of the document; empty if they can."""
    if not prd.stories:
        # The likely reason is a heading that is nearly a story.
        first = prd.remarks[0] if prd.remarks else None
        why = f": {first.message}" if first else f"; one begins with {PATTERN}"
        return (Remark(line=first.line if first else 1, message=f"there are no stories{why}"),)
    found = [*_repeated_ids(prd.stories), *_unknown_ids(prd.stories)]
    found += [] if found else _cycles(prd.stories)
    return tuple(sorted(found, key=lambda one: one.line))


def require_usable(prd: Prd, path: str) -> None:
    """Raise UnusableData with the first flaw, or Missing if there are no stories."""
    found = flaws(prd)
    if found and "\0" in prd.text:
        raise UnusableData(f"{path} is not text", hint="save it as UTF-8")
    if found and not prd.stories:
        raise Missing(
            f"{path}, {found[0]}", hint=f"`ralph story write` makes stories; or fix {path}"
        )
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise UnusableData(f"{path}, {found[0]}{more}", hint=f"fix {path}")


def _repeated_ids(stories: Sequence[Story]) -> list[Remark]:
    first: dict[str, int] = {}
    found = []
    for story in stories:
        if story.id in first:
            message = f"there is a story {story.id} on line {first[story.id]} already"
            found.append(Remark(line=story.line, message=message))
        first.setdefault(story.id, story.line)
    return found


def _unknown_ids(stories: Sequence[Story]) -> list[Remark]:
    known = {story.id for story in stories}
    return [
        Remark(line=one.line, message=f"{story.id} depends on {one.id}, and there is no such story")
        for story in stories
        for one in story.depends_on
        if one.id not in known
    ]


def _cycles(stories: Sequence[Story]) -> list[Remark]:
    needs = {story.id: story.needs for story in stories}
    circle = find_cycle(needs, needs.__getitem__)[::-1]
    if not circle:
        return []
    # Begin with the story that comes first in the document.
    first = next(story for story in stories if story.id in circle)
    turn = circle.index(first.id)
    if len(circle) == 1:
        line = next(one.line for one in first.depends_on if one.id == first.id)
        return [Remark(line=line, message=f"{first.id} depends on itself")]
    names = first_few([*circle[turn:], *circle[:turn]], 10)
    return [Remark(line=first.line, message=f"these stories wait for each other: {names}")]


# The plan


@lru_cache(maxsize=2)
def read_plan(text: str) -> tuple[tuple[str, str], ...]:
    """The sections of a plan (`### US-001: Title`): the id of the story, and the text with its
    heading. A section ends at the next heading of its rank or above, or at that of another story.
    Its boxes are an agent's notes, which Ralph neither writes nor believes."""
    tokens = blocks(text)
    headings = [
        (first_line(token), rank_of(token), PLANNED.fullmatch(tokens[at + 1].content))
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    starts = [*line_starts(text), len(text)]
    found = []
    for at, (line, rank, story) in enumerate(headings):
        if story is None:
            continue
        later = (first for first, other, new in headings[at + 1 :] if new or other <= rank)
        end = next(later, len(starts) - 1)
        said = readable(unified(text[starts[line] : starts[end]])).rstrip() + "\n"
        found.append((story[1], said))
    return tuple(found)


def plan_section(text: str, story: str) -> str:
    """The sections of a plan about a story; empty if there are none."""
    return "\n".join(section for name, section in read_plan(text) if name == story)
