"""Which agent does the next session: the first one whose allowance lasts."""

from ralph.core.ended import Ended
from ralph.core.events import AgentChosen
from ralph.engine.iteration import Iterated
from ralph.engine.kit import Kit
from ralph.ports.agent import Traits


def choose(kit: Kit) -> float | None:
    """Let the first agent that is not out of quota do the next session. None of them: return the
    moment when the first one comes back."""
    resets = []
    for agent in kit.agents:
        until = kit.store.limited_until(agent.traits.name)
        if until is not None:
            resets.append(until)
            continue
        if agent is not kit.agent:
            why = "its allowance is back" if not resets else f"{kit.agents[0].traits.name} is out"
            kit.agent = agent
            kit.record(
                AgentChosen(
                    run_id=kit.settings.run_id,
                    agent=agent.traits.name,
                    reason=why,
                    account=kit.account(agent).name,
                )
            )
        return None
    return min(resets)


def leave_out(kit: Kit, iterated: Iterated) -> bool:
    """Do without an agent that was to step in and cannot work: the first one comes back after its
    reset, and a night is not lost because of the other."""
    agent = kit.agent
    if agent is kit.agents[0]:
        return False
    kit.agents = [one for one in kit.agents if one is not agent]
    way_out = remedy(iterated.ended, agent.traits)
    told = "; ".join(filter(None, (iterated.detail, way_out)))
    kit.warn(f"{agent.traits.name} is left out of this run: {told}")
    return True


def remedy(ended: Ended, traits: Traits) -> str:
    """What a person can do about an agent that cannot work."""
    match ended:
        case Ended.AUTH_EXPIRED:
            return traits.login_hint
        case Ended.BILLING:
            return f"see to the bill of {traits.name}'s account, or use another account"
        case Ended.CANNOT_RUN_AS_ROOT:
            return "run Ralph as another user"
        case _:
            return traits.install_hint
