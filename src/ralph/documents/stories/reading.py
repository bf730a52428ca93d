"""From Markdown to stories. A real parser decides what is a heading and what only looks like one:
code, comments and quotations hold no stories."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from ralph.core.safe_text import one_line
from ralph.documents.encoded import readable
from ralph.documents.markdown import blocks, first_line, line_starts, rank_of, unified
from ralph.documents.stories.boxes import with_boxes
from ralph.documents.stories.headings import RANK, glued, mistake, story_of
from ralph.documents.stories.prd import Box, Criterion, Dependency, Prd, Remark, Story

if TYPE_CHECKING:
    from markdown_it.token import Token

CRITERION: Final = re.compile(r"\[([^\S\n]|[xX])\]\s+(\S.*)", re.S)
DEPENDS: Final = re.compile(
    r"[*_]*depends[ \t]+on(?:[*_]*[ \t]*:[*_]*|[*_ \t]+(?=US-[0-9]))(.*)", re.I
)
"""The colon may be forgotten where a story follows."""
NAME: Final = re.compile(r"\bUS-[0-9]+\b")
NOTHING: Final = frozenset({"none", "nothing", "no story", "n/a", "-", "–", "—"})  # noqa: RUF001


def read_prd(text: str) -> Prd:
    """The stories of a document, in its order, and what is doubtful about it."""
    reader = _Reader(text)
    for at, token in enumerate(reader.tokens):
        reader.take(at, token)
    reader.close(len(text))
    return Prd(text=text, stories=tuple(reader.stories), remarks=tuple(reader.remarks))


class _Reader:
    """Walks through the tokens once. A story is open until a heading of its rank or above."""

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
                end=0,
                body="",
            )
        elif wrong := mistake(rank, content):
            self._remark(line, one_line(readable(wrong), 200))

    def _listed_heading(self, token: "Token", content: str) -> None:
        if story_of(rank_of(token), content) is not None:
            why = "it is part of a list, so it is not read as a story; let it begin its line"
            self._remark(first_line(token), why)

    def _doubt(self, token: "Token") -> None:
        if "#[" in token.content:
            for number, line in enumerate(token.content.split("\n"), first_line(token)):
                if wrong := glued(line):
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
        """The story ends here."""
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
        """Where the mark of the line's box is: nothing but #, bullets and spaces is before it."""
        return self.text.index("[", self.starts[line]) + 1

    def _remark(self, line: int, message: str) -> None:
        self.remarks.append(Remark(line=line + 1, message=message))
