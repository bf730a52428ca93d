"""What the project's own files have to say to a session, as values."""

from enum import StrEnum

import msgspec


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A text, and the file that holds all of it, as seen from the project's folder."""

    path: str
    text: str


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """Something that sessions have learned to do; the file tells how."""

    name: str
    description: str
    path: str


class GuardrailKind(StrEnum):
    """Where in the file a guardrail stands."""

    FIX = "fix"
    """What went wrong, and what mends it."""
    DECISION = "decision"
    PATTERN = "pattern"
    """How things are done here."""
    SIGN = "sign"
    """As older files have it: a trigger and an instruction."""


class Guardrail(msgspec.Struct, frozen=True, kw_only=True):
    """One lesson that every later session should know."""

    id: str
    kind: GuardrailKind
    text: str
    tags: tuple[str, ...] = ()
    created: str = ""
    """A day, such as 2026-02-10; empty where nobody wrote it down."""


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found for one brief."""

    spec: Document | None = None
    plan: Document | None = None
    skills: tuple[Skill, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()
    references: tuple[str, ...] = ()
    """Paths of documents that a session may want to read."""
    troubles: tuple[str, ...] = ()
    """What could not be read, and why, for people."""
