"""What a session's tools have told it: how much of its context that takes, and what failed."""

import msgspec
from msgspec.structs import replace


class ToolUses(msgspec.Struct, frozen=True, kw_only=True):
    """Kept with the session, as its hooks tell of each use."""

    tokens: int = 0
    """Of the results that are in its context, estimated."""
    errors: int = 0
    """How many uses have failed."""
    last_error: str = ""
    """Of the last use, if that failed."""

    def after(self, tokens: int, error: str) -> "ToolUses":
        """One more."""
        return ToolUses(
            tokens=self.tokens + tokens, errors=self.errors + bool(error), last_error=error
        )

    def completed(self, errors: int, last_error: str) -> "ToolUses":
        """With what its stream tells: not every agent's hooks hear of tools that fail."""
        return ToolUses(
            tokens=self.tokens,
            errors=max(self.errors, errors),
            last_error=self.last_error or last_error,
        )

    def condensed(self) -> "ToolUses":
        """The agent has made a summary of its context: the results are not in it any more."""
        return replace(self, tokens=0)
