"""A word that is no command, and what may have been meant."""

from ralph.cli.commands import GROUPS, listed
from ralph.core.errors import UsageError


def unknown_command(name: str) -> UsageError:
    """What to say about a word that is no command."""
    near = _near(name, [*listed(), *GROUPS])
    # `ralph list` means one of the commands that end in it.
    near += [known for known in listed() if known.endswith(f" {name}") and known not in near]
    if near:
        return UsageError(f"there is no command {name!r}; did you mean {_either(near)}?")
    return UsageError(f"there is no command {name!r}", hint="ralph help --all")


def _near(name: str, known: list[str]) -> list[str]:
    """What is nearly as much like it as the most like."""
    from difflib import SequenceMatcher

    likeness = {
        one: max(SequenceMatcher(None, name, text).ratio() for text in (one, one.split()[-1]))
        for one in known
    }
    enough = max(0.7, max(likeness.values()) - 0.05)
    return sorted((one for one in known if likeness[one] >= enough), key=lambda x: -likeness[x])


def _either(names: list[str]) -> str:
    shown = [f"`ralph {name}`" for name in names[:3]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
