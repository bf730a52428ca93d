"""Documents that Ralph commits whole: what was in them before its first session is named."""

from ralph.core.safe_text import one_line
from ralph.documents import guardrails, progress_log
from ralph.engine.kit import Kit
from ralph.ports.library import Library


def uncommitted_edits(kit: Kit, paths: tuple[str, ...]) -> tuple[str, ...]:
    """A word about documents with changes that nobody has committed; nothing where there are none.

    They cannot be left out: ticks and entries are written between a person's lines.
    """
    if kit.settings.commit == "none":
        return ()
    dirty = frozenset(kit.workspace.snapshot().dirty)
    named = [
        path
        for path in paths
        if kit.workspace.prefix + path in dirty and not _is_fresh(kit.library, path)
    ]
    if not named:
        return ()
    have = "has changes that are" if len(named) == 1 else "have changes that are"
    names = ", ".join(one_line(path, 60) for path in named)
    return (f"{names} {have} not committed: Ralph commits them with the work",)


def _is_fresh(library: Library, path: str) -> bool:
    """Only just made, by Ralph."""
    text = library.read(path).text
    return text is not None and (text in ("", guardrails.FRESH) or progress_log.is_fresh(text))
