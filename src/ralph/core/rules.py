"""What holds for every session, whatever its task: for the system prompt, where there is one."""

from typing import Final

RULES: Final = """\
You work in a Ralph loop: a fresh session for each task, and nobody to ask.

- One task, the one that you are given. Leave the others alone.
- Do not assume that something is missing: search the code first.
- Write complete, working code. No placeholders, no stubs.
- Run the project's tests and checks before you claim anything.
- {commit}
- Ralph checks the work itself: a claim without work, or with a failing gate, comes back."""

PREPARING: Final = """\
You work in a Ralph loop: a fresh session for each task, and nobody to ask.

- One task, the one that you are given: it prepares what other sessions build. Build nothing.
- Do not assume that something is missing: search the code first.
- Change no file but the one that your task is about. Do not commit: Ralph does.
- Ralph checks the result itself: a claim without it comes back."""

# An echo of this must count for nothing: ID is no task, and … is no note (`sigils.BLANKS`).
SIGNALS: Final = """\
## How to finish

End your last message with exactly one of these, on a line of its own, with the task's id for ID:

    <task-done>ID</task-done>       the task is complete
    <task-failed>ID</task-failed>   it cannot be done; say why before

Where nothing at all can go on, a line <promise>WORD</promise> with the word FAILURE ends the run;
with the word COMPLETE it says that nothing is left to do for anybody.
<journal>…</journal> keeps a note with this attempt: what you did, what the next one should know.
<next-model>WORD</next-model> with the word haiku, sonnet or opus asks for the next session's model:
a stronger one where the work is hard, a cheaper one where it is plain."""

LEARNING: Final = """\
## Leave behind what you learned

Only what the next session could not see from the code, and only if you found any:

- A way of doing something that will come again: `.ralph/skills/NAME/SKILL.md`, beginning with the
  lines `---`, `name: NAME`, `description: when to use it`, `---`; then the steps.
- A mistake that others would make again: `ralph guardrails add "what to do instead"`.
- What everybody who works here must know: a line in the project's `CLAUDE.md` or `AGENTS.md`,
  whichever there is. Keep it short, and mend what is no longer true."""

KNOWLEDGE: Final = """\
- A fact or a trap: <knowledge tags="a,b" title="in a few words">…</knowledge> in your last message.
  Sessions with a related task are told of it."""


def write_rules(*, agent_commits: bool, learn: bool, memory: bool, builds: bool = True) -> str:
    """The rules, the sigils, and what to do with what was learned, as Markdown."""
    commit = (
        "Commit your changes with a message that says what and why."
        if agent_commits
        else "Do not commit: Ralph does."
    )
    parts = [RULES.format(commit=commit) if builds else PREPARING, SIGNALS]
    if learn and builds:
        parts.append(f"{LEARNING}\n{KNOWLEDGE}" if memory else LEARNING)
    return "\n\n".join(parts) + "\n"
