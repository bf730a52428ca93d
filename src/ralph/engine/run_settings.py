"""The configuration of one run, grouped by what needs it."""

from collections.abc import Mapping
from typing import Self

import msgspec
from msgspec.structs import replace

from ralph.core.gates import Gate
from ralph.core.graph import Schedule
from ralph.core.ids import FeatureId, RunId, WorkerId
from ralph.core.policy.decision import Phase, Policy
from ralph.core.run import AllTasks, RunLimits, Target
from ralph.core.settings import Config
from ralph.documents import guardrails
from ralph.ports.executor import Timeouts
from ralph.store.runs import WorkerProcess


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    env: Mapping[str, str] = {}
    """What sessions and gates inherit."""
    programs: Mapping[str, str] = {}
    """Where an agent's program is, whatever a session puts on its PATH."""
    timeouts: Timeouts = Timeouts(hard_s=2700.0, idle_s=600.0, after_result_s=30.0)
    as_root: bool = False
    memory_path: str = "MEMORY.md"
    """Where a session leaves what the next one needs; empty: a person has that file."""
    policy: Policy = Policy()
    hooks: tuple[str, ...] = ()
    """The command that an agent's program asks before it lets a session use a tool."""
    tools: tuple[str, ...] = ()
    """The command that serves Ralph's own tools to sessions."""
    variables: Mapping[str, str] = {}
    """The variables of every template."""


class GateSettings(msgspec.Struct, frozen=True, kw_only=True):
    commands: tuple[Gate, ...] = ()
    timeout_s: float = 600.0


class CheckSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a verification or a review needs."""

    is_on: bool = False
    model: str = ""
    """Empty: the model of the session that is checked."""
    prompt: str = ""
    """A person's own template; empty: Ralph's."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of one run, frozen when it starts."""

    run_id: RunId
    worker: WorkerId
    owner: WorkerProcess
    config: Config = Config()
    """Everything that can be set. What is prepared for the engine is beside it."""
    runs_dir: str
    """Logs, briefs and streams, one set for each iteration."""
    session: SessionSettings = SessionSettings()
    gates: GateSettings = GateSettings()
    verification: CheckSettings = CheckSettings()
    review: CheckSettings = CheckSettings()
    target: Target = AllTasks()
    """What the run begins with; `RunState` has the one of now."""
    schedule: Schedule = Schedule.PRIORITY
    limits: RunLimits = RunLimits()
    first_iteration: int = 1
    max_retries: int | None = None
    """For every task of this run, instead of each task's own."""
    phase: Phase = Phase.BUILDING
    """What its sessions are for, and so which tools they have."""
    home: FeatureId | None = None
    """The feature of the tasks that sessions add, where their own task has none."""
    guardrails: str = guardrails.PATH
    """Where guardrails are, from the project's root."""
    slot: str = "teammate-1"
    """The worker's place in its team; a run without a team has the first."""
    address: RunId | None = None
    """Where control messages are sent, if not to the run."""
    lease_s: float = 60.0
    warnings: tuple[str, ...] = ()
    """Printed at the start."""

    def without_checks(self) -> Self:
        """For sessions whose result is a document: gates, verification and review are off."""
        off = CheckSettings()
        return replace(self, gates=GateSettings(), verification=off, review=off)
