"""Run an interactive session on the user's terminal, with a description of the project."""

import os
from collections.abc import Mapping

import msgspec

from ralph.config.project import Project
from ralph.core.errors import BadConfig
from ralph.core.ids import RunId, TaskId
from ralph.core.run import OneFeature
from ralph.documents.feature_prompts import InteractivePrompt, describe_project
from ralph.engine.brief_inputs import write_brief_files
from ralph.files import or_cannot_write, write_regular
from ralph.ports.agent import Agent, Brief, SessionTerms
from ralph.ports.executor import Command, Executor
from ralph.ports.project_files import ProjectFiles
from ralph.store.store import Store


class InteractiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """An interactive session: the agent uses the user's own configuration and asks the user."""

    agent: Agent
    executor: Executor
    env: Mapping[str, str]
    root: str
    files: str
    """The common beginning of the paths of its brief and settings."""
    model: str
    as_root: bool
    hook: tuple[str, ...] = ()
    """The command that decides about its tools, since no run does."""
    programs: Mapping[str, str] = {}
    """The paths of programs by name: a session may have put others on the PATH."""

    def run(self, prompt: InteractivePrompt) -> int:
        """Give the terminal to the agent until the user leaves it; return its exit code."""
        brief = self._brief(prompt)
        launch = self.agent.interactive_command(brief)
        if launch.stdin:
            # It would read the brief in place of the user's words.
            name = self.agent.traits.name
            raise BadConfig(
                f"the agent {name} cannot talk with a person: it reads its standard input",
                hint='set [agent] interactive = "my-agent {prompt}", or use --request and --yes',
            )
        for name, content in launch.config.items():
            path = os.path.join(os.path.dirname(self.files), name)
            with or_cannot_write(f"write {path}"):
                write_regular(path, msgspec.json.encode(content))
        program, *words = launch.argv
        argv = (self.programs.get(program, program), *words)
        return self.executor.run_interactive(
            Command(argv=argv, cwd=self.root, env={**self.env, **launch.env})
        )

    def _hooks(self, prompt: InteractivePrompt) -> tuple[str, ...]:
        name = self.agent.traits.name
        return (*self.hook, "--phase", prompt.phase.value, "--agent", name) if self.hook else ()

    def _brief(self, prompt: InteractivePrompt) -> Brief:
        brief = Brief(
            task_id=TaskId("talk"),
            title=prompt.title,
            attempt=1,
            run_id=RunId(os.path.basename(self.files)),
            text=prompt.first_message,
            path=f"{self.files}.prompt.md",
            checkout=self.root,
            rules=prompt.rules,
            rules_path=f"{self.files}.rules.md",
            terms=SessionTerms(
                model=self.model,
                as_root=self.as_root,
                hooks=self._hooks(prompt),
                phase=prompt.phase,
            ),
        )
        write_brief_files(brief)
        return brief


GUIDES = ("CLAUDE.md", "AGENTS.md")
"""The first of them that is there is quoted."""
FEATURES = 30


def describe_project_for(project: Project, store: Store, project_files: ProjectFiles) -> str:
    config = project.config
    gates = "; ".join(f"{name}: `{line}`" for name, line in config.gates.commands.items() if line)
    guides = ((name, project_files.read(name).text) for name in GUIDES)
    name, guide = next(((name, text) for name, text in guides if text), ("", ""))
    counted = (
        (feature, store.claims.counts(OneFeature(feature.id, feature.name)))
        for feature in store.features.all()[-FEATURES:]
    )
    return describe_project(
        guide_name=name,
        guide=guide,
        settings=[
            ("gates, which every task must pass", gates or "none are set"),
            ("commits", config.git.commit),
            ("reference documents", ", ".join(f"`{at}/`" for at in config.specs.dirs) or "none"),
        ],
        features=[(feature, counts.done, counts.total) for feature, counts in counted],
    )
