"""An agent that runs any command line: the prompt goes to a file or stdin, and the last output is
the final message."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from ralph.core.agent_events import AgentEvent, Text
from ralph.core.errors import BadConfig
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import FINAL_MESSAGE_BYTES, StreamSummary, classify_ending, last_line
from ralph.ports import agent

PLACE: Final = "{prompt}"
AS_ARGUMENT: Final = ('"$(cat {prompt})"', "$(cat {prompt})")
ARGUMENT_LIMIT: Final = 120 * 1024
"""Linux takes no argument of 128 KiB or more."""
SHELL_SIGNS: Final = frozenset("|&;<>()$`\\*?[]#~{}!\n")
SHELL_WORDS: Final = frozenset(
    {".", ":", "case", "cd", "command", "eval", "exec", "exit", "export", "for", "if", "set"}
    | {"source", "time", "trap", "ulimit", "umask", "unset", "until", "while"}
)
"""Words that only a shell knows."""


class CommandAgent:
    """`AGENT_CMD`: `{prompt}` is the path of the brief; without it the brief goes to stdin."""

    traits = agent.AgentTraits(
        name="command",
        install_hint="set [agent] command, or AGENT_CMD, to a command that exists",
        line_limit=FINAL_MESSAGE_BYTES,
    )

    def __init__(self, setup: agent.AgentSetup) -> None:
        if not setup.command.strip():
            raise BadConfig(
                "the agent is `command`, but no command is set",
                hint='set [agent] command = "…" in .ralph.toml, or AGENT_CMD',
            )
        if setup.name:
            self.traits = replace(self.traits, name=setup.name)
        self.template = setup.command
        if not self._needs_shell(self.template):
            try:
                shlex.split(self.template)
            except ValueError as error:
                raise BadConfig(f"the agent's command cannot be read: {error}") from error

    @staticmethod
    def _needs_shell(template: str) -> bool:
        plain = template.replace(PLACE, "")
        first = plain.split(maxsplit=1)[0] if plain.strip() else ""
        return not SHELL_SIGNS.isdisjoint(plain) or "=" in first or first in SHELL_WORDS

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        return self._launch(self.template, brief)

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """The same. Its stdin is the terminal, so the prompt has to be an argument or a file."""
        return self.command(brief)

    def _launch(self, template: str, brief: agent.Brief) -> agent.AgentCommand:
        stdin = agent.brief_with_rules(brief).encode()
        if PLACE in template:
            template, stdin = _by_file(template, stdin)
        if not self._needs_shell(template):
            words = (word.replace(PLACE, brief.path) for word in shlex.split(template))
            return agent.AgentCommand(argv=tuple(words), stdin=stdin)
        line = template.replace(PLACE, shlex.quote(brief.path))
        return agent.AgentCommand(argv=("/bin/sh", "-c", line), stdin=stdin)

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> agent.BillingAccount:  # noqa: ARG002
        return agent.BillingAccount(name="the command's own account")

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        yield Text(text=block.decode("utf-8", "replace"))

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        ending = replace(classify_ending(digest, exit_), message=digest.tail)
        if ending.ended is not EndingKind.NO_RESULT:
            return ending
        if exit_.code:
            why = f"the agent exited with {exit_.code}"
            detail = ": ".join(filter(None, (why, last_line(exit_.stderr))))
            return replace(ending, ended=EndingKind.AGENT_ERROR, detail=detail)
        if not digest.tail.strip():
            return replace(ending, detail="it said nothing at all")
        return replace(ending, ended=EndingKind.FINISHED, detail="")


def _by_file(template: str, prompt: bytes) -> tuple[str, bytes]:
    """The template, and the rest of the prompt for stdin."""
    if len(prompt) < ARGUMENT_LIMIT:
        return template, b""
    for spelling in AS_ARGUMENT:
        if spelling in template:
            # Too long for an argument; agents of this kind read stdin as well.
            return template.replace(spelling, ""), prompt
    return template, b""
