"""A session with a person at the terminal: Ralph prepares it, steps aside, and comes back."""

import os
from collections.abc import Mapping

import msgspec

from ralph.core.errors import BadConfig, CannotWrite
from ralph.core.feature_texts import Talk
from ralph.core.ids import RunId, TaskId
from ralph.engine.brief_files import write_files
from ralph.files import write_regular
from ralph.ports.agent import Agent, Brief, Terms
from ralph.ports.executor import Command, Executor


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What it works with. The agent uses the person's own configuration, and asks them for
    permissions: a fresh folder would greet them as a stranger."""

    agent: Agent
    executor: Executor
    env: Mapping[str, str]
    root: str
    files: str
    """The common beginning of the paths of what the session is told."""
    model: str
    as_root: bool
    hook: tuple[str, ...] = ()
    """The command that decides which tools it may use; no loop runs that could be asked."""
    programs: Mapping[str, str] = {}
    """Where an agent's program is, whatever a session has put on the PATH."""

    def hold(self, talk: Talk) -> int:
        """Hand the terminal over until the person leaves; return the agent's exit code."""
        brief = self._brief(talk)
        launch = self.agent.converse(brief)
        if launch.stdin:
            # It would read the brief where it should hear the person.
            name = self.agent.traits.name
            raise BadConfig(
                f"the agent {name} cannot talk with a person: it reads its standard input",
                hint='set [agent] interactive = "my-agent {prompt}", or use --request and --yes',
            )
        for name, content in launch.config.items():
            _put(os.path.join(os.path.dirname(self.files), name), content)
        program, *words = launch.argv
        argv = (self.programs.get(program, program), *words)
        return self.executor.converse(
            Command(argv=argv, cwd=self.root, env={**self.env, **launch.env})
        )

    def _hooks(self, talk: Talk) -> tuple[str, ...]:
        name = self.agent.traits.name
        return (*self.hook, "--phase", talk.phase.value, "--agent", name) if self.hook else ()

    def _brief(self, talk: Talk) -> Brief:
        brief = Brief(
            task_id=TaskId("talk"),
            title=talk.title,
            attempt=1,
            run_id=RunId(os.path.basename(self.files)),
            text=talk.opening,
            path=f"{self.files}.prompt.md",
            checkout=self.root,
            rules=talk.rules,
            rules_path=f"{self.files}.rules.md",
            terms=Terms(
                model=self.model, as_root=self.as_root, hooks=self._hooks(talk), phase=talk.phase
            ),
        )
        write_files(brief)
        return brief


def _put(path: str, content: Mapping[str, object]) -> None:
    try:
        write_regular(path, msgspec.json.encode(content))
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
