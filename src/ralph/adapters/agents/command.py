"""Any command line as an agent: the prompt by file or stdin, its last output as its last word."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from ralph.core.agent_events import AgentEvent, Text
from ralph.core.ended import Ended
from ralph.core.ending import FINAL_MESSAGE_BYTES, Digest, Ending, Exit, last_line, stopped_by_us
from ralph.core.errors import BadConfig
from ralph.ports.agent import Account, Brief, Launch, Setup, Traits, with_rules

PLACE: Final = "{prompt}"
AS_ARGUMENT: Final = ('"$(cat {prompt})"', "$(cat {prompt})")
ARGUMENT_LIMIT: Final = 120 * 1024
"""Linux takes no argument of 128 KiB or more."""
SHELL_SIGNS: Final = frozenset("|&;<>()$`\\*?[]#~{}!\n")
SHELL_WORDS: Final = frozenset(
    {".", ":", "case", "cd", "command", "eval", "exec", "exit", "export", "for", "if", "set"}
    | {"source", "time", "trap", "ulimit", "umask", "unset", "until", "while"}
)
"""Only a shell knows these; none of them is a program."""


class CommandAgent:
    """`AGENT_CMD`: `{prompt}` is the path of the brief; without it the brief goes to stdin."""

    traits = Traits(
        name="command",
        install_hint="set [agent] command, or AGENT_CMD, to a command that exists",
        line_limit=FINAL_MESSAGE_BYTES,
    )

    def __init__(self, setup: Setup) -> None:
        if not setup.command.strip():
            raise BadConfig(
                "the agent is `command`, but no command is set",
                hint='set [agent] command = "…" in .ralph.toml, or AGENT_CMD',
            )
        if setup.name:
            self.traits = replace(self.traits, name=setup.name)
        self.template = setup.command
        self.interactive = setup.interactive or setup.command
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

    def command(self, brief: Brief) -> Launch:
        """The command itself where it is one, by way of a shell where it is more."""
        return self._launch(self.template, brief)

    def converse(self, brief: Brief) -> Launch:
        """`[agent] interactive` where it is set. Its stdin is the terminal, so the prompt has to be
        an argument or a file."""
        return self._launch(self.interactive, brief)

    def _launch(self, template: str, brief: Brief) -> Launch:
        stdin = with_rules(brief).encode()
        if PLACE in template:
            template, stdin = _by_file(template, stdin)
        if not self._needs_shell(template):
            words = (word.replace(PLACE, brief.path) for word in shlex.split(template))
            return Launch(argv=tuple(words), stdin=stdin)
        line = template.replace(PLACE, shlex.quote(brief.path))
        return Launch(argv=("/bin/sh", "-c", line), stdin=stdin)

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:  # noqa: ARG002
        """Nobody knows what a command costs."""
        return Account(name="whoever the command bills")

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """All output is text."""
        yield Text(text=block.decode("utf-8", "replace"))

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        """A plain command has only its exit code and its words."""
        message = digest.tail
        if ended := stopped_by_us(exit_):
            return Ending(ended=ended, message=message, detail=exit_.limit or f"stopped: {ended}")
        match exit_.code:
            case None:
                return Ending(ended=Ended.NOT_INSTALLED, detail=exit_.error)
            case 126 | 127 if not message.strip():
                why = last_line(exit_.stderr) or "command not found"
                return Ending(ended=Ended.NOT_INSTALLED, detail=why)
            case code if code < 0 or code in (130, 143):
                signal = -code if code < 0 else code - 128
                return Ending(
                    ended=Ended.KILLED, message=message, detail=f"killed by signal {signal}"
                )
            case 0 if not message.strip():
                return Ending(ended=Ended.NO_RESULT, detail="it said nothing at all")
            case 0:
                return Ending(ended=Ended.FINISHED, message=message)
            case code:
                why = ": ".join(
                    filter(None, (f"the agent exited with {code}", last_line(exit_.stderr)))
                )
                return Ending(ended=Ended.AGENT_ERROR, message=message, detail=why)


def _by_file(template: str, prompt: bytes) -> tuple[str, bytes]:
    """The template, and what is left for stdin."""
    if len(prompt) < ARGUMENT_LIMIT:
        return template, b""
    for spelling in AS_ARGUMENT:
        if spelling in template:
            # Too long for one argument: every agent of this kind reads stdin as well.
            return template.replace(spelling, ""), prompt
    return template, b""
