"""An agent that is out of quota when it says so."""

from msgspec.structs import replace

from ralph.adapters.agents.command import CommandAgent
from ralph.core.ended import Ended
from ralph.core.ending import Digest, Ending, Exit
from ralph.ports.agent import Home, Setup


class Limited(CommandAgent):
    """Says `limit` when it has no quota, `overload` when nobody answers it."""

    def __init__(self, name: str = "", resets_at: float | None = None) -> None:
        super().__init__(Setup(name=name, command="agent"))
        home = Home(variable="AGENT_HOME", folder=".agent")
        self.traits = replace(self.traits, login_hint="log in anew", home=home)
        self.resets_at = resets_at

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        match digest.tail:
            case "limit":
                return Ending(ended=Ended.USAGE_LIMIT, detail="out", resets_at=self.resets_at)
            case "overload":
                return Ending(ended=Ended.OVERLOADED, detail="529")
            case "unpaid":
                return Ending(ended=Ended.BILLING, detail="402")
            case "expired":
                return Ending(ended=Ended.AUTH_EXPIRED, detail="401")
        return super().ending(digest, exit_)
