"""Fit the sections of a brief into its token limit, the least relevant cut first."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

CHARS_PER_TOKEN: Final = 4
SHARES: Final = 16
"""Every section is sure of a sixteenth, so that a long specification leaves room for others."""
CUT: Final = "[… cut here to save room]"
SHORTEST: Final = 80
"""A few letters of a text are worse than none."""


class BriefSection(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """In a word, for the record."""
    title: str
    parts: tuple[str, ...]
    """The most relevant first: the last ones go first."""
    items: tuple[str, ...] = ()
    """What each part is called, for the record."""
    lead: str = ""
    """A sentence before the parts."""
    source: str = ""
    """Where all of it can be found."""
    between: str = "\n"
    keep_both_ends: bool = False
    """A long text is cut in its middle."""


class SectionUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much of a section a session got."""

    name: str
    tokens: int
    """About so many."""
    of: int
    """And all of it would have been so many."""
    source: str = ""
    items: tuple[str, ...] = ()
    left_out: int = 0
    """How many parts are not in it."""

    @property
    def is_cut(self) -> bool:
        return self.tokens < self.of or self.left_out > 0


def estimate_tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def render_section(section: BriefSection) -> str:
    lead = f"{section.lead}\n\n" if section.lead else ""
    return f"## {section.title}\n\n{lead}{section.between.join(section.parts)}\n\n"


def fit_sections(
    sections: Sequence[BriefSection], room: int, relevance: Sequence[str], shares: int = SHARES
) -> list[BriefSection]:
    """The sections, cut until they fit. `relevance` has the names of those that may be cut, the
    least relevant first; 0 is room for everything."""
    kept = {one.name: one for one in sections}
    over = sum(estimate_tokens(render_section(one)) for one in sections) - room if room else 0
    # The second round is for very little room, or very many sections.
    for sure in (room // shares, 0):
        for name in relevance:
            if over <= 0:
                break
            if name in kept:
                over -= _shrink(kept, name, over, sure)
    return list(kept.values())


def section_usage(
    whole: Sequence[BriefSection], kept: Sequence[BriefSection]
) -> list[SectionUsage]:
    """What became of each section."""
    left = {one.name: one for one in kept}
    return [_given(one, left.get(one.name)) for one in whole]


def _shrink(kept: dict[str, BriefSection], name: str, over: int, sure: int) -> int:
    """Take up to `over` tokens from a section, but leave it what it is sure of."""
    section = kept[name]
    size = estimate_tokens(render_section(section))
    if size <= sure:
        return 0
    smaller = _cut_to(section, max(size - over, sure))
    if smaller is None:
        del kept[name]
        return size
    kept[name] = smaller
    return size - estimate_tokens(render_section(smaller))


def _cut_to(section: BriefSection, room: int) -> BriefSection | None:
    """As many parts as fit; where not even the first does, its beginning. None: nothing does."""
    chars = room * CHARS_PER_TOKEN - len(render_section(replace(section, parts=())))
    parts: list[str] = []
    for part in section.parts:
        if len(part) > chars:
            short = _shortened(part, chars, both_ends=section.keep_both_ends)
            # Of a list whole entries are kept: half of a lesson is none.
            if short and (not parts or not section.items):
                parts.append(short)
            break
        parts.append(part)
        chars -= len(part) + len(section.between)
    if not parts:
        return None
    return replace(section, parts=tuple(parts), items=section.items[: len(parts)])


def _shortened(text: str, chars: int, *, both_ends: bool) -> str:
    """A text cut at the ends of lines, with a mark where that was done."""
    chars -= len(CUT) + 2
    if chars < SHORTEST:
        return ""
    if not both_ends:
        return f"{_whole_lines(text[:chars])}\n{CUT}"
    half = chars // 2
    end = text[-half:].partition("\n")[2] or text[-half:]
    return f"{_whole_lines(text[:half])}\n{CUT}\n{end}"


def _whole_lines(text: str) -> str:
    """Without the last line, which is cut; unless little would be left."""
    lines = text.rpartition("\n")[0]
    return lines if len(lines) > len(text) // 2 else text


def _given(whole: BriefSection, kept: BriefSection | None) -> SectionUsage:
    return SectionUsage(
        name=whole.name,
        tokens=estimate_tokens(render_section(kept)) if kept is not None else 0,
        of=estimate_tokens(render_section(whole)),
        source=whole.source,
        items=kept.items if kept is not None else (),
        left_out=len(whole.parts) - len(kept.parts) if kept is not None else len(whole.parts),
    )
