"""Every command and the module that holds it.

A command's module has a docstring (its first line is the summary), EXAMPLES, `arguments(parser)`
and `run(args) -> exit code`. It is imported only when it is asked for.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Protocol

    class Command(Protocol):
        """What a command's module holds."""

        __doc__: str | None
        EXAMPLES: str

        def arguments(self, parser: ArgumentParser) -> None:
            """Say what may follow the command's name."""
            ...

        def run(self, args: Namespace) -> int:
            """Do it and return the exit code."""
            ...


COMMANDS = {
    "init": "ralph.cli.init",
    "doctor": "ralph.cli.doctor",
    "install": "ralph.cli.install",
    "demo": "ralph.cli.demo",
    "prd": "ralph.cli.prd",
    "plan": "ralph.cli.plan",
    "build": "ralph.cli.build",
    "validate": "ralph.cli.validate",
    "auto": "ralph.cli.auto",
    "run": "ralph.cli.run",
    "status": "ralph.cli.status",
    "logs": "ralph.cli.logs",
    "costs": "ralph.cli.costs",
    "pause": "ralph.cli.pause",
    "resume": "ralph.cli.resume",
    "stop": "ralph.cli.stop",
    "skip": "ralph.cli.skip",
    "handoff": "ralph.cli.handoff",
    "inject": "ralph.cli.inject",
    "undo": "ralph.cli.undo",
    "clean": "ralph.cli.clean",
    "breaker reset": "ralph.cli.breaker_reset",
    "task add": "ralph.cli.task.add",
    "task create": "ralph.cli.task.create",
    "task list": "ralph.cli.task.list",
    "task show": "ralph.cli.task.show",
    "task tree": "ralph.cli.task.tree",
    "task update": "ralph.cli.task.update",
    "task delete": "ralph.cli.task.delete",
    "task done": "ralph.cli.task.done",
    "task fail": "ralph.cli.task.fail",
    "task reset": "ralph.cli.task.reset",
    "task retry": "ralph.cli.task.retry",
    "task block": "ralph.cli.task.block",
    "task unblock": "ralph.cli.task.unblock",
    "task dismiss": "ralph.cli.task.dismiss",
    "task log": "ralph.cli.task.log",
    "task brief": "ralph.cli.task.brief",
    "task deps add": "ralph.cli.task.deps_add",
    "task deps rm": "ralph.cli.task.deps_rm",
    "task deps list": "ralph.cli.task.deps_list",
    "task import": "ralph.cli.task.import_",
    "task export": "ralph.cli.task.export",
    "task ids": "ralph.cli.task.ids",
    "feature spec": "ralph.cli.feature.spec",
    "feature plan": "ralph.cli.feature.plan",
    "feature build": "ralph.cli.feature.build",
    "feature create": "ralph.cli.feature.create",
    "feature list": "ralph.cli.feature.list",
    "feature show": "ralph.cli.feature.show",
    "feature delete": "ralph.cli.feature.delete",
    "team plan": "ralph.cli.team.plan",
    "team run": "ralph.cli.team.run",
    "team status": "ralph.cli.team.status",
    "team install": "ralph.cli.team.install",
    "team uninstall": "ralph.cli.team.uninstall",
    "guardrails add": "ralph.cli.guardrails.add",
    "guardrails list": "ralph.cli.guardrails.list",
    "guardrails remove": "ralph.cli.guardrails.remove",
    "memory list": "ralph.cli.memory.list",
    "memory remove": "ralph.cli.memory.remove",
    "workspace list": "ralph.cli.workspace.list",
    "workspace clean": "ralph.cli.workspace.clean",
    "agents list": "ralph.cli.agents_list",
    "agents probe": "ralph.cli.agents_probe",
    "policy check": "ralph.cli.policy_check",
    "sandbox run": "ralph.cli.sandbox_run",
    "sandbox show": "ralph.cli.sandbox_show",
    "mcp": "ralph.cli.mcp",
    "hook": "ralph.cli.hook",
    "files rebuild": "ralph.cli.files_rebuild",
    "config show": "ralph.cli.config_show",
    "completion": "ralph.cli.completion",
    "help": "ralph.cli.help",
}

HIDDEN = frozenset({"task ids"})
"""Not for people: shell completion calls it."""

GROUPS = {
    "task": "add, look at and change tasks",
    "task deps": "let tasks wait for each other",
    "feature": "take an idea to its tasks: spec, plan, build",
    "team": "let several work on one goal",
    "guardrails": "write down lessons that every session is to follow",
    "memory": "look at what sessions have learned",
    "workspace": "look at the checkouts of tasks, and clear them away",
    "agents": "see which agents there are, and what they can do",
    "policy": "ask what sessions may run, and why",
    "sandbox": "look at the wall around sessions, and try it",
    "breaker": "let a run go on that stopped because everything failed",
    "files": "draw the files that show the state to other programs",
    "config": "look at settings",
}


def load(name: str) -> "Command":
    """The module of a command."""
    return import_module(COMMANDS[name])


def summary(name: str) -> str:
    """The first line of a command's docstring, as it stands in a list."""
    first = (load(name).__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def listed(group: str = "") -> list[str]:
    """The commands that people see, of one group or all."""
    start = f"{group} " if group else ""
    return [name for name in COMMANDS if name.startswith(start) and name not in HIDDEN]
