"""Which agent does the next session: the first one whose allowance lasts."""

from ralph.core.events import AgentChosen
from ralph.engine.kit import Kit


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
