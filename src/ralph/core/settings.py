"""Every setting, with its default; the sentence below a field is its documentation."""

from typing import Annotated, Literal

import msgspec

from ralph.core.resource_limits import SIZE
from ralph.core.times import parse_duration

# The database and the clocks hold large numbers, but not any number.
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Money = Annotated[float, msgspec.Meta(ge=0.0, le=1_000_000_000.0)]
Size = Annotated[str, msgspec.Meta(title="size", pattern=SIZE)]
"""`512 MB`, `8 GB`, `off`; `auto` is worked out."""
Duration = Annotated[str, msgspec.Meta(title="duration")]
"""`30s`, `10m`, `8h`; empty is without limit."""


class SettingsSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of `.ralph.toml`."""


class AgentSection(SettingsSection, frozen=True, kw_only=True):
    """Which program does the work."""

    name: str = "auto"
    """The agent's name; `auto` takes the command that is set, or the first agent installed."""
    command: str = ""
    """The command line of the `command` agent; `{prompt}` is a file, otherwise the brief is on
    stdin."""
    fallback: tuple[str, ...] = ()
    """Agents that take over while the first one is out of quota."""
    pass_env: tuple[str, ...] = ()
    """Variables (or patterns) that sessions inherit although they look like secrets."""
    interactive: str = ""
    """The command line for sessions with a person."""
    max_turns: Count = 0
    """How many turns a session may take, where its agent can count them; 0 is without limit."""
    mcp: bool = True
    """Give sessions Ralph's own tools over MCP, where the extra `mcp` is installed."""


GitAccess = Literal["commit", "read-only", "free"]
Strategy = Literal["fixed", "cost-optimized", "escalate", "plan-then-execute"]


class ModelsSection(SettingsSection, frozen=True, kw_only=True):
    """Which model does the work."""

    strategy: Strategy = "cost-optimized"
    """How the model of the next session is chosen. `fixed`: always `model`. `cost-optimized`:
    sonnet, opus after trouble, haiku after three clean tasks. `escalate`: haiku, sonnet and opus
    with growing trouble. `plan-then-execute`: opus first, then sonnet."""
    model: str = ""
    """The model of the `fixed` strategy: haiku, sonnet, opus, or a name that the agent knows."""
    tiers: dict[str, dict[str, str]] = {}
    """What haiku, sonnet and opus mean for an agent, below `[models.AGENT]`."""


class PriceSection(SettingsSection, frozen=True, kw_only=True):
    """USD per million tokens."""

    input: Money = 0.0
    cached: Money | None = None
    """Of what is read from a cache; None: the same as what is not."""
    output: Money = 0.0


class ExecutionSection(SettingsSection, frozen=True, kw_only=True):
    """How tasks are tried."""

    max_retries: Count = 3
    """Retries of a new task: 3 allows four tries."""
    verify: bool = True
    """Verify accepted work in a second session."""
    learn: bool = True
    """Ask sessions to record what they learned."""
    fail_fast: bool = False
    """A failed child fails its parents at once, instead of when none can still run."""
    limit: Count = 0
    """Iterations of a run; 0 is without limit."""
    schedule: Literal["auto", "priority", "critical-path"] = "auto"
    """Which ready task comes first; `auto` is critical-path with several workers."""


class VerifySection(SettingsSection, frozen=True, kw_only=True):
    """Who verifies."""

    agent: str = ""
    """The agent that checks the work; empty is the one that does it."""
    model: str = ""
    """Its model; empty is that of the session, if the agent knows it."""


class ReviewSection(SettingsSection, frozen=True, kw_only=True):
    """Who reviews."""

    enabled: bool = False
    """Review every change."""
    agent: str = ""
    """The reviewing agent; empty is the working one."""
    model: str = ""
    """Its model; empty is the working one's."""


class TimeoutsSection(SettingsSection, frozen=True, kw_only=True):
    """How long things may take."""

    session: Duration = "45m"
    """A whole session."""
    idle: Duration = "10m"
    """Silence in a session, unless a tool is at work."""
    after_result: Duration = "30s"
    """A session that keeps running after its result."""
    gate: Duration = "10m"
    """One gate."""
    run: Duration = ""
    """A whole run; empty is without limit."""


class GatesSection(SettingsSection, frozen=True, kw_only=True):
    """Commands that must pass, in order."""

    commands: dict[str, str] = {}
    """Each gate has a name of yours; the first one that fails decides."""
    min_coverage: Annotated[float, msgspec.Meta(ge=0.0, le=100.0)] = 0.0
    """The least coverage, in percent, that the `coverage` gate must report."""


class BudgetSection(SettingsSection, frozen=True, kw_only=True):
    """What may be spent."""

    hard: Literal["billed", "always", "never"] = "billed"
    """When a limit stops the work rather than warns."""
    session_usd: Money = 2.0
    """One session."""
    run_usd: Money = 50.0
    """One run."""
    project_usd: Money = 200.0
    """All runs."""
    session_tokens: Count = 0
    """One session, where its cost is unknown; 0 is without limit."""
    warn_at: Share = 0.8
    """The share of a limit at which to warn."""

    def limit(self, level: str) -> float:
        """In dollars; `level` is session, run or project."""
        return float(getattr(self, f"{level}_usd"))


class BreakerSection(SettingsSection, frozen=True, kw_only=True):
    """When a run that only fails stops trying by itself."""

    failures: Count = 3
    """Failures in a row; 0 is never."""
    stagnation: Count = 5
    """Iterations in a row without progress; 0 is never."""
    cooldown: Duration = "5m"
    """How long it waits before it tries one session; empty: it pauses at once."""
    max_age: Duration = "2h"
    """Older failures do not count."""

    @property
    def cooldown_s(self) -> float:
        return parse_duration(self.cooldown)

    @property
    def max_age_s(self) -> float:
        return parse_duration(self.max_age)


class ContextSection(SettingsSection, frozen=True, kw_only=True):
    """The model's context."""

    capacity_tokens: Count = 200_000
    """The size of the context window."""
    windows: dict[str, Count] = {}
    """The same by model, where it differs: `"some-model" = 1000000`."""
    handoff_at: Share = 0.6
    """The share of the context at which a session hands off to a fresh one; 0: never."""
    wrap_up: Duration = "3m"
    """How long a session has to write its notes before it is stopped; 0: it is not
    asked."""
    brief_tokens: Count = 40_000
    """What a brief may take, at four letters a token; 0 is without limit."""

    @property
    def wrap_up_s(self) -> float:
        return parse_duration(self.wrap_up)

    def capacity_of(self, *models: str) -> int:
        """What a context of the first of these models holds that is known."""
        known = (self.windows[model] for model in models if model in self.windows)
        return next(known, self.capacity_tokens)


class GitSection(SettingsSection, frozen=True, kw_only=True):
    """Commits and branches."""

    commit: Literal["auto", "ralph", "none"] = "auto"
    """`auto`: the agent may commit, Ralph commits the rest; `ralph`: only Ralph; `none`: no
    commits."""
    branch: str = ""
    """Work on this branch instead of the current one; a new one if there is none of that name."""


class MergeSection(SettingsSection, frozen=True, kw_only=True):
    """How several workers' work becomes part of the branch."""

    keep_steps: bool = False
    """Merge every commit that a task's sessions made, instead of one commit for each task. Only the
    last of them has passed the gates."""


class PolicySection(SettingsSection, frozen=True, kw_only=True):
    """What sessions may run."""

    git: GitAccess = "commit"
    """`commit`: look, add and commit; `read-only`: look; `free`: all but destroying history. It is
    read-only wherever `[git] commit` is not `auto`."""
    packaging: Literal["auto", "uv", "free"] = "auto"
    """`uv`: pip, venv, conda, poetry and pipenv are denied, Python tools get `uv run`; `auto`: so
    where the project has a uv.lock."""
    strict: bool = False
    """Deny commands whose effect cannot be read from their text."""


class RuleSection(SettingsSection, frozen=True, kw_only=True):
    """A sandbox rule. Unless it is allowed, its paths are hidden and its programs (`bins`)
    blocked."""

    write: tuple[str, ...] = ()
    """Hidden without the rule, writable with it."""
    read: tuple[str, ...] = ()
    """Hidden without the rule, readable with it."""
    bins: tuple[str, ...] = ()
    """Programs that cannot be started without the rule."""
    env: tuple[str, ...] = ()
    """Variables, or patterns, that are not passed on without the rule."""


class SandboxSection(SettingsSection, frozen=True, kw_only=True):
    """The sandbox of sessions."""

    mode: Literal["required", "off"] = "required"
    """`off` runs without the sandbox."""
    use: Literal["auto", "bubblewrap", "landlock", "sandbox-exec"] = "auto"
    """Which sandbox; `auto` is the strongest that works here."""
    network: Literal["on", "off", "proxy"] = "on"
    """`proxy` lets only the listed domains through."""
    domains: tuple[str, ...] = ()
    """What `proxy` lets through: `example.com`, `*.example.com`, `example.com:8443`."""
    allow: tuple[str, ...] = ()
    """Rules: `aws`, `gcloud`, `kubectl`, `docker`, `ssh`, `gh`, `npm-publish`, or your own."""
    write: tuple[str, ...] = ()
    """Further paths that sessions may write."""
    read: tuple[str, ...] = ()
    """Further paths that sessions may read: what is not needed is not visible to them."""
    memory: Size = "auto"
    """What a session may use, all its processes together: `8 GB`, `off`; `auto` is three quarters
    of the machine's."""
    processes: Count = 4096
    """Processes and threads of a session at the same time; 0 is without limit."""
    open_files: Count = 65536
    """Files that each of its processes may hold open; 0 is without limit."""
    disk: Size = "auto"
    """What a session may add to a disk: `20 GB`, `off`; `auto` is a quarter of what is free."""
    rules: dict[str, RuleSection] = {}
    """Rules of your own, below `[sandbox.rules.NAME]`: each is one more word for `allow`."""


class WorkspaceSection(SettingsSection, frozen=True, kw_only=True):
    """Private checkouts."""

    include: tuple[str, ...] = ()
    """Ignored files that a private checkout needs, such as `.env`."""
    setup: tuple[str, ...] = ()
    """Commands that prepare a private checkout."""
    reuse: tuple[str, ...] = ()
    """Folders that `setup` makes, such as `node_modules`: copied instead of made again in every
    checkout with the same lock files. Not for what remembers where it is, such as a virtual
    environment."""


class WorkersSection(SettingsSection, frozen=True, kw_only=True):
    """How many workers a run has."""

    count: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    """Workers of a run."""


class SpecsSection(SettingsSection, frozen=True, kw_only=True):
    """Reference documents."""

    dirs: tuple[str, ...] = (".ralph/specs",)
    """Folders whose Markdown files sessions are pointed to."""


class MemorySection(SettingsSection, frozen=True, kw_only=True):
    """What later sessions get from earlier ones."""

    enabled: bool = True
    """Keep what sessions learn, and give guardrails and memories to later ones."""
    budget_tokens: Count = 2000
    """What these may take of a brief, together; 0 is without limit."""


class NotifySection(SettingsSection, frozen=True, kw_only=True):
    """Notifications."""

    bell: bool = True
    """The terminal's bell."""
    desktop: bool = False
    """A desktop notification, by `notify-send` or `osascript`."""
    sound: bool = False
    """Spoken words, by `say`, `spd-say` or `espeak`; also for each task that is done."""
    command: str = ""
    """A command that gets the message as its last argument."""
    urls: tuple[str, ...] = ()
    """Services to notify, as addresses that `apprise` knows (an extra: `ralphloop[notify]`)."""
    on: tuple[Literal["done", "complete", "failed", "paused", "limit"], ...] = (
        "complete",
        "failed",
        "paused",
    )
    """What is worth a notification: a task that is `done`, a run that is `complete`, a task or a
    run that `failed`, a run that has `paused`, or one that waits for a usage `limit` or has reached
    its own."""


class RetentionSection(SettingsSection, frozen=True, kw_only=True):
    """How long Ralph keeps its own records; a run applies it when it ends."""

    days: Count = 30
    """Logs and other files of sessions in `.ralph/runs`; 0 is for ever."""
    failed_days: Count = 90
    """The same of attempts that did not count; 0 is for ever."""
    sessions: Count = 5000
    """How many sessions may have files; 0 is without limit. Failed attempts go last."""
    megabytes: Count = 2000
    """What they may take, together; 0 is without limit."""
    backups: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 5
    """Copies of the database: one is made when a run begins or ends and something has changed."""


class UiSection(SettingsSection, frozen=True, kw_only=True):
    """Screens."""

    color: Literal["auto", "always", "never"] = "auto"
    """Colours; `auto` is on a terminal."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set."""

    agent: AgentSection = AgentSection()
    models: ModelsSection = ModelsSection()
    prices: dict[str, PriceSection] = {}
    """What a model costs, for agents that count tokens but do not say what they cost. `cached` is
    for input that comes from a cache; without it, that costs as much as the rest."""
    execution: ExecutionSection = ExecutionSection()
    verify: VerifySection = VerifySection()
    review: ReviewSection = ReviewSection()
    timeouts: TimeoutsSection = TimeoutsSection()
    gates: GatesSection = GatesSection()
    budget: BudgetSection = BudgetSection()
    breaker: BreakerSection = BreakerSection()
    context: ContextSection = ContextSection()
    git: GitSection = GitSection()
    merge: MergeSection = MergeSection()
    policy: PolicySection = PolicySection()
    sandbox: SandboxSection = SandboxSection()
    workspace: WorkspaceSection = WorkspaceSection()
    workers: WorkersSection = WorkersSection()
    specs: SpecsSection = SpecsSection()
    memory: MemorySection = MemorySection()
    notify: NotifySection = NotifySection()
    retention: RetentionSection = RetentionSection()
    ui: UiSection = UiSection()


SECTIONS: dict[str, type[SettingsSection]] = {
    name: type_
    for name, type_ in Config.__annotations__.items()
    if isinstance(type_, type) and issubclass(type_, SettingsSection)
}
