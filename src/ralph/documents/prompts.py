"""What sessions of the story pipeline are told, as templates that people may replace."""

from typing import Final

PRD: Final = """\
Write a product requirements document into `{{PRD_PATH}}` for this request:

{{REQUEST}}

Look at the code first, so that the document fits what is there. Nobody can be asked: where the
request leaves something open, take what suits this project best, and list it under a heading
`## Decided without asking`. Do not build anything, and change no other file.

It is Markdown: first what it is for, who uses it, and what it is not; then the stories, in the
order in which they are to be built, each exactly in this form:

    ### [ ] US-001: A title in a few words
    As a …, I want …, so that …

    Depends on: US-000 (only where a story needs what another one makes; else leave the line out)

    - [ ] something that can be checked, with the command or the behaviour that shows it
    - [ ] another one

- A heading of a story has three #, an empty box, an id `US-` with digits, a colon and a title.
- A story is work for one session, and leaves the project working.
- Criteria can be checked by somebody who has not seen the code. Every story has at least one.
- All boxes are empty: nothing is built yet.
"""

PLAN: Final = """\
Plan how the stories of `{{PRD_PATH}}` are built, in `{{PLAN_PATH}}`. If there is a plan already,
make it better: go on from it, correct what is no longer true, and leave alone what is good.

1. Read `{{PRD_PATH}}` to the end, then `{{GUARDRAILS_PATH}}` and `{{ERRORS_LOG_PATH}}` if they are
   there.
2. Look at the code that the stories touch. Do not assume that something is missing: search first.
3. Write the plan: one section for each story that is still open, in this form:

       ### US-001: Its title
       - [ ] a step
         - Scope: which files, and what changes there
         - Acceptance: which criteria it serves
         - Verification: the command that shows it

Only explore: write no code, run nothing that changes the project, and change no file but
`{{PLAN_PATH}}`. Everything else is put back.
"""

BUILD: Final = """\
It is the story {{STORY_ID}} of `{{PRD_PATH}}`:

{{STORY_BLOCK}}

1. Read `{{GUARDRAILS_PATH}}` and `{{ERRORS_LOG_PATH}}` if they are there: others have paid for what
   they say. `{{PROGRESS_PATH}}` tells what was done before.
2. Its steps are in `{{PLAN_PATH}}`; if it has no section there, write one. Tick the steps as you
   go: they are your notes.
3. Read the code that it touches before you change anything. Do not assume that something is
   missing.
4. Build this story and no other, with its tests. Run them, and mend what they show.
5. In `{{PRD_PATH}}` tick the criteria of this story that hold, and its heading when all of them do.
   Change nothing else there.
"""

AGAIN: Final = """\
Work on this story was rejected before: this is retry {{RETRY_ATTEMPT}} of {{RETRY_MAX}}. What was
done so far is in the checkout: mend it rather than begin anew. This was wrong:

{{FAILURE_CONTEXT}}

"""

TEMPLATES: Final = {"prd": PRD, "plan": PLAN, "build": BUILD, "retry": AGAIN + BUILD}
