"""What a PRD is made of. Places are counted in characters from the beginning of its text."""

import msgspec

from ralph.documents.markdown import unified


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """`[ ]` or `[x]`."""

    at: int
    """Where the mark inside it stands."""
    ticked: bool


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold when a story is done."""

    text: str
    box: Box
    line: int


class Dependency(msgspec.Struct, frozen=True, kw_only=True):
    """A story that must be done before."""

    id: str
    line: int


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """`### [ ] US-001: Title`, and what stands below it up to the next heading of its rank."""

    id: str
    title: str
    box: Box
    line: int
    start: int
    end: int
    body: str
    """What stands below the heading, with all boxes cleared: ticks are no part of what it says."""
    criteria: tuple[Criterion, ...] = ()
    depends_on: tuple[Dependency, ...] = ()
    files: tuple[str, ...] = ()
    """What it says that it will modify, where its kind of document has a place for that."""

    @property
    def is_ticked(self) -> bool:
        return self.box.ticked

    @property
    def has_all_criteria(self) -> bool:
        """Are there criteria, and is each of them ticked?"""
        return bool(self.criteria) and all(one.box.ticked for one in self.criteria)

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the stories that must be done before, each once."""
        return tuple(dict.fromkeys(one.id for one in self.depends_on))


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A line that was probably meant otherwise than it is read."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class Prd(msgspec.Struct, frozen=True, kw_only=True):
    """A whole document."""

    text: str
    stories: tuple[Story, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def story(self, name: str) -> Story | None:
        """The first story of that id."""
        return next((one for one in self.stories if one.id == name), None)

    def by_id(self) -> dict[str, Story]:
        """All of them in their order, for whoever looks for many; the first of twins."""
        found: dict[str, Story] = {}
        for one in self.stories:
            found.setdefault(one.id, one)
        return found

    def block(self, story: Story) -> str:
        """A story as it stands in the document, its heading included, line ends aside."""
        return unified(self.text[story.start : story.end]).rstrip() + "\n"
