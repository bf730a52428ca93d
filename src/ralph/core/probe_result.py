"""The result of `ralph agents probe`: what one version of an agent did in a small real session."""

import msgspec

from ralph.core.session_ending import EndingKind


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    version: str
    probed_at: str
    ended: EndingKind
    detail: str = ""
    exit_code: int | None = None
    reads_prompt: bool = False
    """The prompt reached it, and it did what that says."""
    claims: bool = False
    """Its final message holds the claim it was asked for."""
    commits: bool = False
    """It could commit in a checkout of its own."""
    events: dict[str, int] = {}
    """Which kinds of events its stream had, and how many."""
    left_behind: int = 0
    """Processes that had to be ended after it."""
    model: str = ""
    cost_usd: float | None = None
    duration_s: float = 0.0
    sandbox: str = ""
    """The sandbox around it; `off` without one."""

    @property
    def trouble(self) -> str:
        """Why it cannot do a task, in a few words; empty if it can."""
        if self.ended is not EndingKind.FINISHED:
            kind = self.ended.replace("_", " ")
            # Some details begin with the kind themselves.
            said = (self.detail,) if self.detail.startswith(kind) else (kind, self.detail)
            return ": ".join(filter(None, said))
        if not self.reads_prompt:
            return "it did not do what it was asked"
        return "" if self.claims else "it did not claim its task"

    @property
    def works(self) -> bool:
        """Everything that a task needs. Ralph can commit for an agent that cannot."""
        return not self.trouble


def version_of(text: str) -> str:
    """The version in what a program prints about itself; empty without one."""
    for word in text.split():
        bare = word.strip("v(),;")
        if bare[:1].isdigit() and "." in bare:
            return bare
    return ""
