"""An agent that is out of quota when it says so."""

from msgspec.structs import replace

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import AgentHome, AgentSetup


class Limited(CommandAgent):
    """Says `limit` when it has no quota, `overload` when nobody answers it."""

    def __init__(self, name: str = "", resets_at: float | None = None) -> None:
        super().__init__(AgentSetup(name=name, command="agent"))
        home = AgentHome(variable="AGENT_HOME", folder=".agent")
        self.traits = replace(self.traits, login_hint="log in anew", home=home)
        self.resets_at = resets_at

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        match digest.tail:
            case "limit":
                return SessionEnding(
                    ended=EndingKind.USAGE_LIMIT, detail="out", resets_at=self.resets_at
                )
            case "overload":
                return SessionEnding(ended=EndingKind.OVERLOADED, detail="529")
            case "offline":
                return SessionEnding(ended=EndingKind.NO_NETWORK, detail="refused")
            case "unpaid":
                return SessionEnding(ended=EndingKind.BILLING, detail="402")
            case "expired":
                return SessionEnding(ended=EndingKind.AUTH_EXPIRED, detail="401")
            case "expired, at length":
                return SessionEnding(ended=EndingKind.AUTH_EXPIRED, detail="401\n" + "x" * 5000)
        return super().ending(digest, exit_)
