"""The probe: a tiny real session, to see what this version of an agent does."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from secrets import token_hex
from typing import Final

import msgspec

from ralph.core.capability import Capability
from ralph.core.ending import Digest, Exit, Stop
from ralph.core.errors import Unavailable
from ralph.core.ids import RunId, TaskId
from ralph.core.models import Preferences, Tier, name_for
from ralph.core.moment import iso
from ralph.core.safe_text import one_line
from ralph.core.sigils import read_sigils
from ralph.files import open_regular, write_regular
from ralph.ports.agent import Agent, Brief, Terms, Traits, with_rules
from ralph.ports.clock import Clock
from ralph.ports.executor import Captures, Command, Executor, Timeouts
from ralph.ports.homes import Homes
from ralph.ports.sandbox import Wall

TASK: Final = TaskId("t-000000")
FILE: Final = "probe.txt"
TIMEOUTS: Final = Timeouts(hard_s=300.0, idle_s=120.0, after_result_s=30.0)
PROMPT: Final = f"""\
This is a test of the connection. Do just this, in the current directory:

1. Write a file {FILE} that holds the word WORD and nothing else.
2. Commit it with git.
3. End your answer with this line: <task-done>{TASK}</task-done>
"""


class Ear:
    """Listens to the session, and counts what it hears."""

    def __init__(self, agent: Agent, interrupted: Callable[[], object]) -> None:
        self.agent = agent
        self.interrupted = interrupted
        self.digest = Digest()
        self.heard: Counter[str] = Counter()

    def output(self, block: bytes) -> None:
        """Understand and count."""
        for event in self.agent.read(block):
            self.digest.take(event)
            self.heard[str(event.__struct_config__.tag)] += 1

    @property
    def has_result(self) -> bool:
        """It has said its last word."""
        return self.digest.result is not None

    @property
    def is_busy(self) -> bool:
        """A tool call is open."""
        return bool(self.digest.open_calls)

    def tick(self) -> Stop | None:
        """Ctrl-C ends the session as well."""
        return Stop.INTERRUPTED if self.interrupted() else None


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe works with."""

    executor: Executor
    git: Captures
    clock: Clock
    homes: Homes
    env: Mapping[str, str]
    folder: str
    """Empty, and soon a repository."""
    as_root: bool
    models: Preferences
    interrupted: Callable[[], object]
    """Has a person pressed Ctrl-C?"""
    walls: Callable[[], AbstractContextManager[Wall]]
    """Around the folder, once it is a repository: a run's sessions have one, so this has."""
    warn: Callable[[str], object]
    """What a person should know about the wall."""

    def run(self, agent: Agent, version: str) -> Capability:
        """One session; what it did, and how it ended."""
        word = f"ralph-{token_hex(4)}"
        first = self._lay_out()
        ear = Ear(agent, self.interrupted)
        with self.walls() as wall:
            self._warn(wall.warnings)
            brief = self._brief(PROMPT.replace("WORD", word), agent.traits, wall)
            exit_ = self._session(agent, ear, brief, wall)
        ending = agent.ending(ear.digest, msgspec.structs.replace(exit_, ended_at=self.clock.now()))
        return Capability(
            agent=agent.traits.name,
            version=version,
            probed_at=iso(self.clock.now()),
            ended=ending.ended,
            detail=one_line(ending.detail, 300),
            exit_code=exit_.code,
            reads_prompt=word in self._written(),
            claims=read_sigils(ending.message).task_done == TASK,
            commits=self._git("rev-parse", "HEAD") != first,
            events=dict(ear.heard),
            left_behind=exit_.swept,
            model=ending.model,
            cost_usd=ending.cost_usd,
            duration_s=round(exit_.duration_s, 3),
            sandbox=wall.name,
        )

    def _lay_out(self) -> str:
        self._git("init", "-q")
        self._git("config", "user.name", "Ralph")
        self._git("config", "user.email", "ralph@localhost")
        self._git("commit", "-q", "--allow-empty", "-m", "Begin")
        return self._git("rev-parse", "HEAD")

    def _brief(self, text: str, traits: Traits, wall: Wall) -> Brief:
        # A model that a person has fixed is the only one that is sure to be there.
        wanted = self.models.model or Tier.HAIKU
        model = name_for(wanted, self.models.tiers.get(traits.name, {}), traits.models)
        brief = Brief(
            task_id=TASK,
            title="A test of the connection",
            attempt=1,
            run_id=RunId("probe"),
            text=text,
            path=os.path.join(self.folder, ".git", "prompt.md"),
            checkout=self.folder,
            terms=Terms(model=model, fenced=wall.stands, as_root=self.as_root),
        )
        write_regular(brief.path, with_rules(brief).encode())
        return brief

    def _session(self, agent: Agent, ear: Ear, brief: Brief, wall: Wall) -> Exit:
        launch, home = agent.command(brief), agent.traits.home
        lead = self.homes.open(agent.traits.name, home, "probe", {}) if home is not None else {}
        command = Command(
            argv=launch.argv,
            cwd=self.folder,
            env={**self.env, **launch.env, **lead},
            stdin=launch.stdin,
        )
        try:
            with wall.around(command, home=self.homes.folder) as inside:
                exit_ = self.executor.run(
                    inside.command,
                    log=os.path.join(self.folder, ".git", "session.log"),
                    timeouts=TIMEOUTS,
                    listener=ear,
                    line_limit=agent.traits.line_limit,
                )
                stood = inside.has_started or exit_.code is None or exit_.stop is not None
        finally:
            self.homes.shut()
        self._warn(inside.warnings)
        if not stood:
            # No word about the agent: it was never started.
            why = wall.has_failed(exit_) or f"exit code {exit_.code}"
            raise Unavailable(f"the sandbox cannot be built: {why}", hint="ralph doctor")
        return exit_

    def _warn(self, warnings: Sequence[str]) -> None:
        for warning in warnings:
            self.warn(warning)

    def _written(self) -> str:
        try:
            with open_regular(os.path.join(self.folder, FILE)) as file:
                return file.read(1000).decode("utf-8", "replace")
        except OSError:
            return ""

    def _git(self, *words: str) -> str:
        done = self.git.capture(["git", *words], cwd=self.folder)
        return done.stdout.decode(errors="replace").strip()
