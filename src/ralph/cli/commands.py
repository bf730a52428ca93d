"""The table of commands: the name of each, and the module and the value that implement it.

A command's module is imported only when the command is asked for.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ralph.cli.command import CliCommand

COMMANDS = {
    "go": "go:go",
    "init": "init:init",
    "demo": "demo:demo",
    "doctor": "doctor:doctor",
    "run": "run:run",
    "status": "status:status",
    "logs": "logs:logs",
    "report": "report:report",
    "serve": "serve:serve",
    "watch": "watch:watch",
    "diff": "diff:diff",
    "costs": "costs:costs",
    "pause": "control:pause",
    "resume": "control:resume",
    "stop": "control:stop",
    "undo": "control:undo",
    "task add": "task.edit:add",
    "task create": "task.edit:create",
    "task list": "task.list:list_tasks",
    "task show": "task.show:show",
    "task tree": "task.list:show_tree",
    "task update": "task.edit:update",
    "task delete": "task.edit:delete",
    "task done": "task.status:done",
    "task fail": "task.status:fail",
    "task reset": "task.status:reset",
    "task retry": "task.status:retry",
    "task block": "task.status:block",
    "task unblock": "task.status:unblock",
    "task dismiss": "task.status:dismiss",
    "task apply": "diff:apply",
    "review comment": "review:comment",
    "review list": "review:list_findings",
    "task log": "task.show:log",
    "task brief": "task.show:brief",
    "task deps add": "task.edit:add_dependency",
    "task deps rm": "task.edit:remove_dependency",
    "task deps list": "task.edit:list_dependencies",
    "task import": "task.transfer:import_tasks",
    "task export": "task.transfer:export",
    "story write": "stories:write",
    "story plan": "stories:plan",
    "story build": "stories:build",
    "story validate": "stories:validate",
    "feature spec": "feature:spec",
    "feature plan": "feature:plan",
    "feature build": "feature:build",
    "feature create": "feature:create",
    "feature list": "feature:list_features",
    "feature show": "feature:show",
    "feature delete": "feature:delete",
    "team plan": "team.goal:plan",
    "team run": "team.goal:run",
    "team install": "team.hooks:install",
    "team uninstall": "team.hooks:uninstall",
    "session inject": "control:inject",
    "session skip": "control:skip",
    "session handoff": "control:hand_off",
    "memory add": "memory:add_guardrail",
    "memory guardrails": "memory:list_guardrails",
    "memory list": "memory:list_memories",
    "memory remove": "memory:remove",
    "workspace list": "workspace:list_checkouts",
    "workspace clean": "workspace:clean_checkouts",
    "agents list": "agents:list_agents",
    "agents probe": "agents:probe",
    "policy check": "policy:check",
    "sandbox run": "sandbox:run",
    "sandbox show": "sandbox:show",
    "store copy": "store:copy",
    "breaker reset": "control:reset_breaker",
    "config show": "config:show",
    "config templates": "init:write_templates",
    "clean": "workspace:clean",
    "completion": "completion:completion",
    "help": "help:show_help",
    "mcp": "hook:mcp",
    "hook": "hook:hook",
    "files rebuild": "init:rebuild_state_files",
    "complete": "completion:complete",
}

HIDDEN = frozenset({"mcp", "hook", "files", "files rebuild", "complete"})
"""Only programs call them."""

OLD_NAMES = {
    "auto": "go --plan stories",
    "prd": "story write",
    "plan": "story plan",
    "build": "story build",
    "validate": "story validate",
    "inject": "session inject",
    "skip": "session skip",
    "handoff": "session handoff",
    "guardrails add": "memory add",
    "guardrails list": "memory guardrails",
    "guardrails remove": "memory remove",
    "install": "config templates",
    "team status": "status",
}
"""Names that work for one more release, and what is called instead."""

GROUPS = {
    "task": "add, look at and change tasks",
    "task deps": "manage dependencies between tasks",
    "review": "comment on lines of a task's change, and see what became of it",
    "story": "plan with a PRD: write stories, plan, build and validate them",
    "feature": "take an idea to its tasks: spec, plan, build",
    "team": "let several work on one goal",
    "session": "steer the session at work: guidance, skip its task, hand it off",
    "memory": "what later sessions get: guardrails, and what sessions have learned",
    "workspace": "look at the checkouts of tasks, and clear them away",
    "agents": "see which agents there are, and what they can do",
    "policy": "ask what sessions may run, and why",
    "sandbox": "show and test the sandbox of sessions",
    "store": "copy everything to another database",
    "breaker": "let a run go on that stopped because everything failed",
    "config": "look at settings, and write prompt templates to edit",
    "files": "draw the files that show the state to other programs",
}


def load(name: str) -> "CliCommand":
    module, _, attribute = COMMANDS[name].partition(":")
    found: CliCommand = getattr(import_module(f"ralph.cli.{module}"), attribute)
    return found


def summary(name: str) -> str:
    """The first line of a command's help, for lists."""
    first = load(name).text.strip().partition("\n")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def listed(group: str = "") -> list[str]:
    """The commands of one group, or all that people call."""
    start = f"{group} "
    return [n for n in COMMANDS if n.startswith(start) or not (group or n in HIDDEN)]


def groups() -> list[str]:
    """The groups that people use."""
    return [name for name in GROUPS if name not in HIDDEN]
