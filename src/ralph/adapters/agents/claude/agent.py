"""Claude Code: how it is started, what it says, how it ends, who pays."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ralph.adapters.agents.claude import account, command, failures, stream, traits
from ralph.adapters.agents.reset_time import reset_time
from ralph.core.agent_events import AgentEvent
from ralph.core.ended import Cost, Ended
from ralph.core.ending import Digest, Ending, Exit, conclude
from ralph.ports.agent import Account, Brief, Launch, Setup


class Claude:
    """The `claude` command."""

    traits = traits.TRAITS

    def __init__(self, setup: Setup) -> None: ...

    def command(self, brief: Brief) -> Launch:
        """`claude -p`, with the prompt on stdin."""
        return command.headless(brief)

    def converse(self, brief: Brief) -> Launch:
        """`claude`, with the prompt as its first message."""
        return command.interactive(brief)

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """Its stream of JSON lines."""
        return stream.read(block)

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        """By its result; the time of a reset also from its own words."""
        ending = conclude(digest, exit_, failures.of_stderr(exit_.stderr))
        result = digest.result
        if ending.ended is Ended.USAGE_LIMIT and result and result.failure is Ended.BILLING:
            # What is used up comes back, but not before somebody pays.
            return replace(ending, ended=Ended.BILLING, resets_at=None)
        if ending.cost is Cost.WAIT and ending.resets_at is None:
            return replace(ending, resets_at=reset_time(ending.detail, exit_.ended_at))
        return ending

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:
        """From its keys, its settings and its login."""
        return account.account(env, files)
