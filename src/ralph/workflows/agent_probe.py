"""The probe of an agent: a small real session that shows what this version does."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from secrets import token_hex
from typing import Final

import msgspec

from ralph.core.ids import RunId, TaskId
from ralph.core.message_tags import read_message_tags
from ralph.core.model_selection import Tier, model_name_for_agent
from ralph.core.probe_result import ProbeResult
from ralph.core.process_exit import ProcessExit
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.core.settings import ModelsSection
from ralph.core.times import to_iso
from ralph.engine.sandboxed_process import SandboxedExecutor
from ralph.files import open_regular, write_regular
from ralph.ports.agent import Agent, AgentHomes, AgentTraits, Brief, SessionTerms, brief_with_rules
from ralph.ports.clock import Clock
from ralph.ports.executor import Command, CommandRunner, Executor, Timeouts
from ralph.ports.sandbox import CheckoutSandbox

TASK: Final = TaskId("t-000000")
FILE: Final = "probe.txt"
TIMEOUTS: Final = Timeouts(hard_s=300.0, idle_s=120.0, after_result_s=30.0)
PROMPT: Final = f"""\
This is a test of the connection. Do just this, in the current directory:

1. Write a file {FILE} that holds the word WORD and nothing else.
2. Commit it with git.
3. End your answer with this line: <task-done>{TASK}</task-done>
"""


class ProbeListener:
    def __init__(self, agent: Agent, interrupted: Callable[[], object]) -> None:
        self.agent = agent
        self.interrupted = interrupted
        self.digest = StreamSummary()
        self.counts: Counter[str] = Counter()

    def output(self, block: bytes) -> None:
        for event in self.agent.read(block):
            self.digest.add(event)
            self.counts[str(event.__struct_config__.tag)] += 1

    @property
    def has_result(self) -> bool:
        return self.digest.result is not None

    @property
    def is_busy(self) -> bool:
        return bool(self.digest.open_calls)

    def tick(self) -> EndingKind | None:
        return EndingKind.INTERRUPTED if self.interrupted() else None


class AgentProbe(msgspec.Struct, frozen=True, kw_only=True):
    executor: Executor
    git: CommandRunner
    clock: Clock
    homes: AgentHomes
    env: Mapping[str, str]
    folder: str
    """An empty folder, which becomes a repository."""
    as_root: bool
    models: ModelsSection
    interrupted: Callable[[], str | None]
    """The signal by which the user ends the probe."""
    open_sandbox: Callable[[], AbstractContextManager[CheckoutSandbox]]
    warn: Callable[[str], None]
    """Prints a warning about the sandbox."""

    def run(self, agent: Agent, version: str) -> ProbeResult:
        word = f"ralph-{token_hex(4)}"
        first = self._make_repository()
        listener = ProbeListener(agent, self.interrupted)
        with self.open_sandbox() as checkout_sandbox:
            for line in checkout_sandbox.warnings:
                self.warn(line)
            brief = self._brief(PROMPT.replace("WORD", word), agent.traits, checkout_sandbox)
            exit_ = self._session(agent, listener, brief, checkout_sandbox)
        ending = agent.ending(
            listener.digest, msgspec.structs.replace(exit_, ended_at=self.clock.now())
        )
        return ProbeResult(
            agent=agent.traits.name,
            version=version,
            probed_at=to_iso(self.clock.now()),
            ended=ending.ended,
            detail=one_line(ending.detail, 300),
            exit_code=exit_.code,
            reads_prompt=word in self._written(),
            claims=read_message_tags(ending.message).task_done == TASK,
            commits=self._git("rev-parse", "HEAD") != first,
            events=dict(listener.counts),
            left_behind=exit_.leftovers_ended,
            model=ending.model,
            cost_usd=ending.cost_usd,
            duration_s=round(exit_.duration_s, 3),
            sandbox=checkout_sandbox.name,
        )

    def _make_repository(self) -> str:
        self._git("init", "-q")
        self._git("config", "user.name", "Ralph")
        self._git("config", "user.email", "ralph@localhost")
        self._git("commit", "-q", "--allow-empty", "-m", "Begin")
        return self._git("rev-parse", "HEAD")

    def _brief(self, text: str, traits: AgentTraits, checkout_sandbox: CheckoutSandbox) -> Brief:
        # Only a model that the user has chosen is sure to be there.
        wanted = self.models.model or Tier.HAIKU
        model = model_name_for_agent(wanted, self.models.tiers.get(traits.name, {}), traits.models)
        brief = Brief(
            task_id=TASK,
            title="A test of the connection",
            attempt=1,
            run_id=RunId("probe"),
            text=text,
            path=os.path.join(self.folder, ".git", "prompt.md"),
            checkout=self.folder,
            terms=SessionTerms(
                model=model, sandboxed=checkout_sandbox.is_active, as_root=self.as_root
            ),
        )
        write_regular(brief.path, brief_with_rules(brief).encode())
        return brief

    def _session(
        self, agent: Agent, listener: ProbeListener, brief: Brief, checkout_sandbox: CheckoutSandbox
    ) -> ProcessExit:
        launch, home = agent.command(brief), agent.traits.home
        lead = self.homes.create(agent.traits.name, home, "probe", {}) if home is not None else {}
        command = Command(
            argv=launch.argv,
            cwd=self.folder,
            env={**self.env, **launch.env, **lead},
            stdin=launch.stdin,
        )
        processes = SandboxedExecutor(
            executor=self.executor,
            checkout_sandbox=checkout_sandbox,
            interrupted=self.interrupted,
            warn=lambda line, _: self.warn(line),
        )
        try:
            return processes.run(
                command,
                log=os.path.join(self.folder, ".git", "session.log"),
                timeouts=TIMEOUTS,
                listener=listener,
                line_limit=agent.traits.line_limit,
                home=self.homes.folder,
            )
        finally:
            self.homes.remove()

    def _written(self) -> str:
        try:
            with open_regular(os.path.join(self.folder, FILE)) as file:
                return file.read(1000).decode("utf-8", "replace")
        except OSError:
            return ""

    def _git(self, *words: str) -> str:
        command = Command(argv=("git", *words), cwd=self.folder, env=os.environ)
        done = self.git.capture(command)
        return done.stdout.decode(errors="replace").strip()
