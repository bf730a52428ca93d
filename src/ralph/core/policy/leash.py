"""What one session may do with its tools: the policy, where it holds, and what its tools mean."""

import msgspec

from ralph.core.policy.decision import Ground, Phase, Policy
from ralph.core.policy.tools import Toolbox


class Leash(msgspec.Struct, frozen=True, kw_only=True):
    """The same whichever way it is attached: hooks, a library, MCP."""

    policy: Policy = Policy()
    ground: Ground = Ground(checkout="/")
    toolbox: Toolbox = Toolbox()
    phase: Phase = Phase.BUILDING
    speaks: bool = True
    """False: it has no say about the task, and only looks."""
