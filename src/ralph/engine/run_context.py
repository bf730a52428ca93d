"""The dependencies, the settings and the state of one run."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Self

import msgspec
from msgspec.structs import replace

from ralph.core.errors import Busy, CannotWrite, RalphError
from ralph.core.ids import RunId
from ralph.core.task import Task
from ralph.engine.budget_tracker import BudgetTracker
from ralph.engine.event_log import EventLog
from ralph.engine.lease_watch import LeaseWatch
from ralph.engine.memory_file import MemoryFile
from ralph.engine.run_settings import RunSettings
from ralph.engine.run_state import AgentPool, CheckoutState, Controls, RunState
from ralph.engine.sandboxed_process import SandboxedExecutor
from ralph.ports.agent import AgentHomes
from ralph.ports.clock import Clock
from ralph.ports.control_socket import ControlSocket
from ralph.ports.executor import Executor
from ralph.ports.merge_branch import MergeBranch
from ralph.ports.project_files import IterationLog, ProjectFiles
from ralph.ports.sandbox import CheckoutSandbox
from ralph.ports.task_document import TaskDocument
from ralph.ports.user_interface import UserPrompt
from ralph.ports.workspace import TemporaryCheckouts, Workspace
from ralph.store.claims import StaleClaim
from ralph.store.store import Store

MARKER = "RALPH_SESSION"
"""The variable by which everything that a worker has started can be found again."""


class RunContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the steps of a run work with. Only its `state`, `checkout`, `controls`, `agents`,
    `budget_tracker` and `memory_file` change, by their own methods."""

    settings: RunSettings
    store: Store
    executor: Executor
    clock: Clock
    log: EventLog
    control_socket: ControlSocket
    homes: AgentHomes
    checkout_sandbox: CheckoutSandbox
    project_files: ProjectFiles
    project_files_at: Callable[[str], ProjectFiles]
    """The project's files in another checkout."""
    checkouts: TemporaryCheckouts
    budget_tracker: BudgetTracker
    interrupted: Callable[[], str | None]
    """The name of the signal that asks the run to end."""
    leases: LeaseWatch

    state: RunState
    checkout: CheckoutState
    agents: AgentPool
    memory_file: MemoryFile
    controls: Controls = msgspec.field(default_factory=Controls)

    user_prompt: UserPrompt | None = None
    """Who can be asked; None where the run has no terminal to itself."""
    document: TaskDocument = TaskDocument()
    """The document that holds the tasks; one without any, if there is none."""
    iteration_log: IterationLog | None = None
    merge_branch: MergeBranch | None = None
    """The branch that a team merges into."""
    missing: Callable[[Task], str] = lambda _: ""
    """What a claim still lacks, in a sentence: for tasks whose result is not in the tree."""
    is_project: Callable[[str], bool] = lambda _: False
    """Has a person made that folder of the checkout a project?"""
    as_damage: Callable[[BaseException], RalphError | None] = lambda _: None
    """The error to report where the data are to blame; None: it is a bug."""

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of sessions and gates."""
        return {**self.settings.session.env, MARKER: self.settings.worker}

    @property
    def processes(self) -> SandboxedExecutor:
        """Starts sessions and gates."""
        return SandboxedExecutor(
            executor=self.executor,
            checkout_sandbox=self.checkout_sandbox,
            interrupted=self.interrupted,
            warn=self.log.warn,
        )

    @property
    def workspace(self) -> Workspace:
        return self.checkout.workspace

    @property
    def top(self) -> str:
        """The top of the checkout. The project may be a folder in it."""
        return self.workspace.path.removesuffix(f"/{self.workspace.prefix.strip('/')}")

    @property
    def files(self) -> str:
        """The common beginning of this iteration's files."""
        part = f".{self.memory_file.part}" if self.memory_file.part > 1 else ""
        name = f"run-{self.settings.run_id}-iter-{self.state.iteration}{part}"
        return os.path.join(self.settings.runs_dir, name)

    @property
    def address(self) -> RunId:
        """Under which people, or the lead, send it control messages."""
        return self.settings.address or self.settings.run_id

    @property
    def own_documents(self) -> frozenset[str]:
        """The documents that Ralph itself writes, from the top of the checkout."""
        path = self.settings.guardrails
        paths = [*self.document.paths, *([path] if self.project_files.exists(path) else [])]
        return frozenset(self.workspace.prefix + one for one in paths)

    def with_warnings(self, lines: Sequence[str]) -> Self:
        """The same run, which also says these lines when it starts."""
        warnings = (*self.settings.warnings, *lines)
        return replace(self, settings=replace(self.settings, warnings=warnings))

    def beat(self) -> None:
        """At every tick: restore what was removed; renew the lease and save logins when due."""
        s = self.settings
        if self.store.db.restore_if_removed():
            self.log.warn("the database was removed while the run was at work; it is back")
        self.control_socket.drop_late_clients()
        if self.state.is_beat_due(self.clock.monotonic(), s.lease_s / 3):
            # A full disk, or a database that another program holds, must not cost a session that
            # is under way; its end is written with the space that the store keeps in reserve.
            with suppress(Busy, CannotWrite):
                self.store.claims.heartbeat(s.worker, s.lease_s)
                self.dead_claims()
            self.homes.save_credentials()

    def dead_claims(self) -> list[StaleClaim]:
        """Return the claims of dead workers. Asked at every beat, since a worker of another machine
        is dead only after it was watched for a while."""
        return self.leases.dead(self.stale_claims(), self.clock.monotonic())

    def stale_claims(self) -> list[StaleClaim]:
        s = self.settings
        return self.store.claims.stale(s.worker, s.owner.host, s.lease_s)

    def write_state_files(self, *, is_last: bool = False) -> None:
        self.log.write_state_files(self.settings.phase, is_last=is_last)
