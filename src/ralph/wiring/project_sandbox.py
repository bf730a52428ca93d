"""The sandbox rules of a project, and the programs that run outside of the sandbox."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from shutil import which
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.resource_usage import total_memory
from ralph.adapters.sandbox.planted_files import find_agent_settings, nested, unfinished
from ralph.adapters.sandbox.required_paths import (
    UnsandboxedRunner,
    home_folders,
    ralph_code_in,
    required_paths,
    unreadable_for_others,
    unwritable_path,
    with_its_folder,
)
from ralph.adapters.sandbox.session_files import documents, templates
from ralph.adapters.workspace.git_config_paths import (
    GitConfig,
    NamedPath,
    files_in,
    named_by_script,
    named_in,
    read_git_config,
)
from ralph.adapters.workspace.known_projects import other_projects, sandbox_caches
from ralph.config.project import Project
from ralph.core.errors import BadConfig, Missing, RalphError, Unavailable
from ralph.core.hidden_paths import AllowRule, all_allow_rules, check_domains, check_rule_names
from ralph.core.resource_limits import ResourceLimits, parse_size
from ralph.core.sandbox_rules import (
    PROJECT_LIST,
    Access,
    IfMissing,
    PathRule,
    SandboxPaths,
    SandboxRules,
    build_sandbox_rules,
    is_inside,
)
from ralph.core.session_environment import (
    DURABLE_GIT,
    SESSION_GIT,
    inherited_variables,
    with_git_ceiling,
)
from ralph.core.settings import SandboxSection
from ralph.git_layout import alternates, borrowed_objects, find_layout, top_of
from ralph.ports.agent import Agent
from ralph.ports.executor import CommandRunner
from ralph.wiring.processes import system_clock

MEMORY_SHARE: Final = 0.75
USED_BY_GIT: Final = (
    *("git", "git-lfs", "ralph", "ssh", "gpg", "less", "more", "vi", "vim", "nano", "editor"),
    *("sh", "bash", "dash", "zsh", "env", "perl", "awk", "basename", "cat", "chmod", "cp", "cut"),
    *("date", "dirname", "expr", "find", "gettext", "gettext.sh", "envsubst", "grep", "head", "ls"),
    *("mkdir", "mktemp", "mv", "readlink", "realpath", "rm", "sed", "sort", "tail", "tee", "touch"),
    *("tr", "uname", "uniq", "wc", "which", "xargs"),
)
"""By name: git itself, what its scripts and many hooks start, and how Ralph is started."""
RUN_BY_GIT: Final = (
    *("GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR", "GIT_PAGER", "PAGER", "GIT_SSH"),
    *("GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXTERNAL_DIFF", "BASH_ENV", "ENV"),
    "LD_PRELOAD",
)
"""Variables whose value git runs, or whatever it starts."""
DISK_SHARE: Final = 0.25
"""What a session may use of a machine's memory, and of what is free on its disk."""


class ProjectSandbox(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox of a project on this machine."""

    project: Project
    ralph_sockets: tuple[str, ...] = ()
    command: str = ""
    """What a person runs in the sandbox."""

    def rules_for(self, folder: str) -> SandboxRules:
        """The sandbox rules of sessions in the checkout of the project that has this folder."""
        project, home = self.project, os.environ.get("HOME") or os.path.expanduser("~")
        top = top_of(folder)
        if top is None:
            raise Missing(f"{folder} is not in a git repository", hint="git init")
        root, repository = self._project_in(top), find_layout(top)
        paths = SandboxPaths(
            home=home,
            top=top,
            project=root,
            git_dir=repository.git_dir,
            common_dir=repository.common_dir,
            database=os.path.abspath(project.database),
            cache=_cache(project.root),
            folders=project.temp,
            homes=home_folders(),
            private=unreadable_for_others("/etc"),
            documents=documents(root, project.variables),
            templates=templates(root, project.variables),
            ralph_code=ralph_code_in(top),
            agent_settings=find_agent_settings(top),
            others=tuple(_other_projects(top, project.root)),
            shadowing=tuple(_shadowing_programs((top, root))),
            unfinished=(*unfinished(repository.common_dir), *unfinished(repository.git_dir)),
            ralph_sockets=self.ralph_sockets,
            variables=os.environ,
        )
        rules, section = allow_rules_of(project), project.config.sandbox
        limits = _limits(section)
        sandbox_rules = build_sandbox_rules(paths, section, rules, limits)
        # Git itself is asked, so it must not be one that a session has put there.
        settings = _git_settings(top, unwritable_path(_path(), sandbox_rules))
        roots = (top, repository.git_dir, repository.common_dir)
        run = (*settings.named, *self._named_by_own_commands())
        named = [one._replace(path=_path_within(one.path, roots)) for one in run]
        inside = [one for one in named if any(is_inside(one.path, root) for root in roots)]
        outside = [one for one in named if one not in inside]
        nested = (one._replace(path=_path_within(one.path, roots)) for one in settings.nested)
        inside += [one for one in nested if is_inside(one.path, top)]
        borrowed = alternates(repository.common_dir)
        paths = replace(
            paths,
            git_runs=tuple((one.path, _if_missing(one)) for one in inside if one.is_run),
            required=(
                *_required_paths(sandbox_rules, (top, root)),
                *((path, "this repository borrows objects there") for path in borrowed),
                *_read_by_git(outside, home),
            ),
        )
        sandbox_rules = build_sandbox_rules(paths, section, rules, limits)
        sandbox_rules = sandbox_rules.with_paths(
            *self._source_paths(top), *self._named_by_commands(sandbox_rules)
        )
        if any(one.holds_secret for one in outside):
            return replace(sandbox_rules, env=(*sandbox_rules.env, *_identity(settings)))
        return sandbox_rules

    @property
    def path(self) -> str:
        """The folders of the PATH where Ralph looks for programs of its own."""
        return unwritable_path(_path(), self.rules_for(self.project.root))

    def _project_in(self, top: str) -> str:
        """The project's folder: in any checkout it is as far from the top as at home."""
        root = self.project.root
        return os.path.normpath(os.path.join(top, os.path.relpath(root, top_of(root) or root)))

    def _source_paths(self, top: str) -> Iterator[PathRule]:
        """What a checkout that was made for a session needs of the person's own: it can be in a
        folder that is out of sight, such as /tmp."""
        own = top_of(self.project.root)
        if own is None or own == top:
            return
        git_dir, common_dir = find_layout(own)
        borrows = "this checkout borrows them"
        read = {
            # An agent's command may name a file there.
            own: "your own checkout",
            os.path.join(common_dir, PROJECT_LIST): "the projects of this repository",
            os.path.join(common_dir, "objects"): borrows,
            os.path.join(common_dir, "modules"): borrows,
        }
        # One that is made of a task's own checkout borrows from that as well.
        between = borrowed_objects(top)
        if is_inside(between, self.project.checkouts):
            read[between] = borrows
        read[self.project.runs_dir] = "what sessions get to read"
        for path, why in read.items():
            yield PathRule(path=path, access=Access.READ, why=why)
        # A session that can open the database or a lock can hold it, also if it cannot write it.
        locks = (self.project.state, *(os.path.join(at, "ralph") for at in (git_dir, common_dir)))
        for path in locks:
            why = "what Ralph knows, and its locks"
            yield PathRule(path=path, access=Access.HIDE, why=why, broad=True)

    def _named_by_commands(self, sandbox_rules: SandboxRules) -> Iterator[PathRule]:
        """Files that the person's own commands name, such as an agent's script: they may be in a
        folder that is not there inside, such as /tmp. What is written or holds keys stays so."""
        project, why = self.project, "a command of yours names it"
        own = (line for name, line in project.variables.items() if name.startswith("AGENT_"))
        config = project.config
        for command in (config.agent.command, *own, *config.gates.commands.values(), self.command):
            for path in files_in(command, project.root):
                place = sandbox_rules.rule_for(path)
                if place is None or place.access is Access.READ or place.broad:
                    shown = with_its_folder(path, sandbox_rules.home, sandbox_rules.top)
                    yield PathRule(path=shown, access=Access.READ, why=why)

    def _named_by_own_commands(self) -> Iterator[NamedPath]:
        """What the person's own commands start in the checkout where they run without a sandbox:
        those for messages, those of agents when a person talks to them, editors."""
        project, root = self.project, self.project.root
        agent, notify = project.config.agent, project.config.notify.command
        for path in files_in(notify, root):
            yield NamedPath(path, is_folder=False, counts_when_made=False)
        variables = (os.environ.get(name, "") for name in RUN_BY_GIT)
        for command in (notify, agent.interactive, *variables):
            yield from named_by_script(command, root)
        # The same commands work in sessions, and make files there that they start themselves.
        own = (line for name, line in project.variables.items() if name.startswith("AGENT_"))
        for command in (agent.command, *own):
            named = named_by_script(command, root, is_followed=False)
            # Not the files that it works on.
            yield from (one for one in named if os.access(one.path, os.X_OK))


def _path() -> str:
    return os.environ.get("PATH", os.defpath)


def _path_within(path: str, roots: Sequence[str]) -> str:
    """The path below one of these folders that leads there, if only a link does."""
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    for root in roots:
        if is_inside(path, root):
            break
        if is_inside(real, os.path.realpath(root)):
            return os.path.normpath(
                os.path.join(root, os.path.relpath(real, os.path.realpath(root)))
            )
    return path


def _shadowing_programs(folders: Sequence[str]) -> Iterator[str]:
    """Where programs would be found before those of the system that git, hooks and Ralph's own
    start look for by name. A path that is not absolute counts from wherever a person is."""
    for entry in _path().split(os.pathsep):
        for folder in dict.fromkeys(os.path.normpath(os.path.join(one, entry)) for one in folders):
            if is_inside(inner := _path_within(folder, folders), folders[0]):
                yield from (os.path.join(inner, name) for name in USED_BY_GIT)


def _required_paths(
    sandbox_rules: SandboxRules, checkouts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    places = sandbox_rules.paths
    yield from required_paths(
        os.environ,
        sandbox_rules.home,
        written=[place.path for place in places if place.access is Access.WRITE],
        hidden=[p.path for p in places if p.access is Access.HIDE and not p.broad],
        checkouts=checkouts,
    )


def _read_by_git(named: Sequence[NamedPath], home: str) -> Iterator[tuple[str, str]]:
    """Settings outside of the checkout, and what they name that is only read."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    usual = (os.path.join(home, ".gitconfig"), os.path.join(base, "git", "config"))
    read = [one.path for one in named if one.counts_when_made or not one.is_run]
    secret = [one.path for one in named if one.holds_secret]
    for path in dict.fromkeys((*usual, *read)):
        if path not in secret:
            yield path, "settings of git"


def _identity(settings: GitConfig) -> Iterator[tuple[str, str]]:
    """Who commits, where sessions cannot read it, since a password is beside it."""
    yield "GIT_CONFIG_GLOBAL", os.devnull
    for name, value in (("NAME", settings.name), ("EMAIL", settings.email)):
        for who in ("AUTHOR", "COMMITTER"):
            if value and f"GIT_{who}_{name}" not in os.environ:
                yield f"GIT_{who}_{name}", value


def _other_projects(top: str, root: str) -> Iterator[str]:
    """Folders of other projects, in any checkout of the repository."""
    for name in other_projects(root):
        path = os.path.normpath(os.path.join(top, name))
        around = path
        while not os.path.lexists(around):
            around = os.path.dirname(around)
        if os.path.isdir(around):  # or else a file is in its place
            yield path


@lru_cache
def _git_settings(top: str, path: str) -> GitConfig:
    """Asked once: a run's configuration is frozen when it starts."""
    executor = UnsandboxedRunner(ProcessExecutor(system_clock()), path)
    try:
        settings = read_git_config(executor, top)
        has_hooks = any(one.is_folder and is_inside(one.path, top) for one in settings.named)
        others = named_in(executor, nested(top), has_hooks=has_hooks)
        return settings._replace(nested=tuple(others))
    except Unavailable:
        return GitConfig(named=(), name="", email="")  # without git nothing heeds its settings


def _if_missing(one: NamedPath) -> IfMissing:
    if not one.counts_when_made:
        return IfMissing.SKIP
    return IfMissing.FOLDER if one.is_folder else IfMissing.CLEAR


def _cache(root: str) -> str:
    """One for each project, beside other caches: none that a person's own tools read."""
    name = f"{os.path.basename(root)}-{sha256(os.fsencode(root)).hexdigest()[:8]}"
    return os.path.join(sandbox_caches(os.environ), name)


def allow_rules_of(project: Project) -> dict[str, AllowRule]:
    """All rules that there are, once the settings name no other."""
    settings = project.config.sandbox
    rules = all_allow_rules(settings.rules)
    with _naming_setting(project, "sandbox.allow"):
        check_rule_names(settings.allow, rules)
    with _naming_setting(project, "sandbox.domains"):
        check_domains(settings.domains)
    return rules


def _limits(settings: SandboxSection) -> ResourceLimits:
    is_auto = settings.memory == "auto"
    return ResourceLimits(
        processes=settings.processes,
        memory=int(total_memory() * MEMORY_SHARE) if is_auto else parse_size(settings.memory),
        open_files=settings.open_files,
        disk=parse_size(settings.disk),
        disk_share=DISK_SHARE if settings.disk == "auto" else 0.0,
    )


@contextmanager
def _naming_setting(project: Project, key: str) -> Iterator[None]:
    """What is wrong is wrong there."""
    try:
        yield
    except RalphError as error:
        source = project.source(key)
        if source.kind == "flag":
            raise
        raise BadConfig(f"{source}: {error}", hint=error.hint) from error


def session_environment(
    project: Project, keys: Sequence[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What sessions inherit, and the names of the secrets that they do not; `keys` say who pays."""
    rules = allow_rules_of(project)
    opened = [name for rule in project.config.sandbox.allow for name in rules[rule].env]
    kept, dropped = inherited_variables(os.environ, (*project.config.agent.pass_env, *opened), keys)
    # Settings of git that are let through are the user's own.
    durable = kept if "GIT_CONFIG_COUNT" in kept else kept | DURABLE_GIT
    # A session that removes the repository of its private checkout must not work in the user's.
    private = os.path.join(os.path.realpath(project.root), ".ralph", "checkouts")
    return with_git_ceiling(durable | SESSION_GIT, private), dropped


def search_path(project: Project) -> str:
    """Where to look for programs that run without a sandbox: not where sessions write."""
    if not project.has_sandbox:
        return _path()
    with suppress(RalphError):
        return ProjectSandbox(project=project).path
    return _path()  # no checkout, no sessions


def unsandboxed_runner(project: Project, executor: CommandRunner) -> CommandRunner:
    """For short commands of our own that run without a sandbox."""
    return UnsandboxedRunner(executor, search_path(project))


def agents_programs(
    project: Project, agents: Sequence[Agent]
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Where sessions cannot put another one that says that all is well; a line about each that is
    nowhere else."""
    if not project.has_sandbox:
        return {}, ()
    path = search_path(project)
    found = {
        name: which(name, path=path) for name in (one.traits.program for one in agents) if name
    }
    programs = {name: where for name, where in found.items() if where is not None}
    return programs, tuple(
        f"{name} is where sessions can change it ({which(name)}); install it elsewhere"
        for name in found
        if name not in programs
    )
