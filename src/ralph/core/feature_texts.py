"""What sessions are told that think a feature out: its spec, its plan, its tasks."""

from typing import Final

import msgspec

from ralph.core.policy.decision import Phase

SPEC_OUTLINE: Final = """\
- Overview: what it is for, who uses it, and what it is not
- Requirements: numbered, each one something that can be checked
- Architecture: which parts there are, and where they go in this code
- Interfaces: commands, functions, endpoints, files, messages, with their errors
- Data models: what is stored, and what must always hold
- Testing: how each requirement is shown to be met
- Dependencies: what it needs that is not there yet"""

PLAN_OUTLINE: Final = """\
- Phases, foundations first; after each of them the project works
- In each phase its steps in detail: which files, what changes there, which requirements it serves
- Verification: the commands that show that a phase is done
- Risks: what may go wrong, and what would be done then"""

DECOMPOSITION: Final = """\
- A task is work for one session: one to three files, and the tests that belong to it.
- Its title says what will be true afterwards. Its description has all that a session needs which
  has not seen this one: what to do, the section of the spec that it serves, the files, and
  acceptance criteria that can be checked.
- Foundations first. An edge only where a task needs something that another one makes: what does
  not wait can be done at any time.
- A parent only groups. Work is in the tasks without children."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The feature in question."""

    name: str
    spec: str
    """The path of its spec, from the project's root; `plan` likewise."""
    plan: str
    request: str = ""
    """What a person asked for, in their own words."""
    has_spec: bool = False
    has_plan: bool = False


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A session with a person: what holds throughout, and the first words."""

    title: str
    phase: Phase
    rules: str
    opening: str


# With a person


def talk_about_spec(subject: Subject, context: str) -> Talk:
    """Find out what is wanted, and write it down."""
    return Talk(
        title=f"Spec of {subject.name}",
        phase=Phase.DISCOVERY,
        rules=_joined(
            f"""\
You help a person to specify the feature `{subject.name}` of this project.

- Look at the code first, so that you ask only what it does not answer.
- Ask about one thing at a time, and offer choices where you see them. Point out what contradicts
  itself, what is missing, and what would be simpler.
- When enough is clear, write `{subject.spec}` and show what you have written. Change it until the
  person is content.
- The spec says what is wanted and how one can tell, not in which order it is built. Write no code,
  and change no other file.""",
            f"The spec is Markdown with these sections:\n\n{SPEC_OUTLINE}",
            context,
        ),
        opening=_joined(
            f"There is a spec already, `{subject.spec}`. Read it, say in a few lines what it"
            " settles and what is open, and let us go on from there."
            if subject.has_spec
            else f"Let us specify the feature `{subject.name}`.",
            subject.request,
        ),
    )


def talk_about_plan(subject: Subject, context: str) -> Talk:
    """Decide how it is to be built."""
    return Talk(
        title=f"Plan of {subject.name}",
        phase=Phase.PLANNING,
        rules=_joined(
            f"""\
You help a person to plan how the feature `{subject.name}` of this project is built.

- Read `{subject.spec}` to the end, then the code that it touches.
- Where there is more than one way, name them with what speaks for and against each, and say which
  one you would take. The person decides.
- When that is settled, write `{subject.plan}` and show what you have written. Change it until the
  person is content.
- Every requirement of the spec has its place in the plan. What the spec leaves open is a question
  for the person. Write no code, and change no other file but the spec, if they ask for it.""",
            f"The plan is Markdown with these parts:\n\n{PLAN_OUTLINE}",
            context,
        ),
        opening=_joined(
            f"There is a plan already, `{subject.plan}`. Read it with `{subject.spec}`, say what is"
            " still right and what is not, and let us go on from there."
            if subject.has_plan
            else f"Let us plan the feature `{subject.name}`; its spec is `{subject.spec}`.",
            subject.request,
        ),
    )


def talk_about_task(request: str, context: str) -> Talk:
    """Make one good task of an idea."""
    return Talk(
        title="A new task",
        phase=Phase.PLANNING,
        rules=_joined(
            """\
You help a person to put one piece of work into words, so that an agent can do it in one session
without asking anybody.

- Look at the code first, then ask what it does not answer.
- Propose a title and a description: what is to be done, which files, and acceptance criteria that
  can be checked. If it is too much for one session, say so, and propose how to divide it.
- When the person agrees, add it with `ralph task add TITLE -d DESCRIPTION`. `--blocked-by TASK`
  lets it wait for another one; `ralph task list` shows what there is.
- Do not do the work itself, and change no file.""",
            context,
        ),
        opening=request or "I have something to be done. Ask me what it is.",
    )


# Alone


def write_spec(subject: Subject) -> str:
    """The description of a task: write a spec without asking."""
    return _joined(
        _asked(subject.request),
        f"Write the specification of the feature `{subject.name}` into `{subject.spec}`."
        if not subject.has_spec
        else f"Revise the specification of the feature `{subject.name}` in `{subject.spec}`:"
        " keep what still holds, change what the request asks for.",
        f"It is Markdown with these sections:\n\n{SPEC_OUTLINE}",
        "Look at the code first. Nobody can be asked: where the request leaves something open, take"
        " what suits this project best and list it under a heading `Decided without asking`. Write"
        " no code, and change no other file.",
    )


def write_plan(subject: Subject) -> str:
    """The description of a task: write a plan without asking."""
    return _joined(
        f"Read `{subject.spec}` to the end and the code that it touches. Then"
        f" {'revise' if subject.has_plan else 'write'} the plan of the feature `{subject.name}` in"
        f" `{subject.plan}`.",
        _asked(subject.request),
        f"It is Markdown with these parts:\n\n{PLAN_OUTLINE}",
        "Every requirement of the spec has its place in it. Nobody can be asked: what you decide"
        " yourself, and why, goes under a heading `Decided without asking`. Write no code, and"
        " change no other file.",
    )


def break_down(subject: Subject, root: str) -> str:
    """The description of a task: divide the work."""
    return _joined(
        f"Break the feature `{subject.name}` down into tasks. Nothing is built in this session: its"
        " result is the tasks, and no file changes.",
        f"1. Read `{subject.spec}` and `{subject.plan}` to the end, then look at the code.\n"
        f"2. `ralph task tree {root}` shows what is there already: go on from it.\n"
        f"3. Add tasks with `ralph task add TITLE --parent {root} -d DESCRIPTION`, which prints the"
        " new id; `-d -` reads a long description from standard input. `--file PATH` names a file"
        " that it will modify (repeat it): tasks that share one are not run at the same time. To"
        " group some, give them a parent of their own below it.\n"
        "4. Say what has to wait with `ralph task deps add BLOCKER BLOCKED`. A circle is refused:"
        " then one of its edges is wrong.\n"
        f"5. `ralph task tree {root}` once more: is every part of the plan there, and nothing"
        " twice? Then end your session as you were told, with what you have decided in a few"
        " sentences.",
        f"What makes good tasks:\n\n{DECOMPOSITION}",
    )


def root_description(subject: Subject) -> str:
    """What all tasks of a feature are part of."""
    return f"The feature `{subject.name}`, as `{subject.spec}` and `{subject.plan}` have it."


def _asked(request: str) -> str:
    if not request:
        return ""
    quoted = "\n".join(f"> {line}".rstrip() for line in request.splitlines())
    return f"A person asks for this:\n\n{quoted}"


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())
