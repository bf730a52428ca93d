"""A skill for agents: how to write a PRD that Ralph can build."""

from typing import Final

NAME: Final = "prd"
FILE: Final = f"{NAME}/SKILL.md"

TEXT: Final = """\
---
name: prd
description: Write a PRD with stories that `ralph build` can build. For whoever asks for one.
---

# Write a PRD

1. Find out what is wanted. Look at the code first, then ask what it does not answer, one thing at a
   time, with choices.
2. Write `.agents/tasks/prd.md`, or the file that was named: what it is for, who uses it, what it is
   not; then the stories, in the order in which they are to be built.
3. Each story has exactly this form:

       ### [ ] US-001: A title in a few words
       As a …, I want …, so that …

       - [ ] something that can be checked, with the command or behaviour that shows it

   Three #, an empty box, `US-` and digits, a colon, a title. A line `Depends on: US-001` where a
   story needs what another one makes.
4. A story is work for one session and leaves the project working. It has at least one criterion.
5. Do not build anything.
"""
