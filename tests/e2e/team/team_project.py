"""A project that many can build at once, with files over which they quarrel."""

import json
import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import fed

AGENT = """\
brief=$(cat)
file=$(printf '%s\\n' "$brief" | sed -n 's/^It appends to \\([a-z0-9.]*\\)\\..*/\\1/p' | head -n 1)
nap=$(printf '%s\\n' "$brief" | sed -n 's/.*It sleeps for \\([0-9.]*\\) s.*/\\1/p' | head -n 1)
sleep "${nap:-0}"
mkdir -p parts
echo "$RALPH_TASK_ID" > "parts/$RALPH_TASK_ID"
if [ -n "$file" ]; then
  if grep -q '^<<<<<<<' "$file" 2>/dev/null; then
    sed -e '/^|||||||/,/^=======/d' -e '/^<<<<<<</d' -e '/^=======/d' -e '/^>>>>>>>/d' \\
      "$file" > "$file.new" && mv "$file.new" "$file"
  fi
  grep -qx "$RALPH_TASK_ID" "$file" 2>/dev/null || echo "$RALPH_TASK_ID" >> "$file"
fi
case "$RALPH_TASK_ID" in *[02468ace]) git add -A; git commit -qm "by the agent" ;; esac
echo "<task-done>$RALPH_TASK_ID</task-done>"
"""
"""Edits, sometimes commits, fixes conflicts by keeping both sides, and claims its task."""

GATE = """\
! grep -rn '^<<<<<<<' --include='*.txt' . || exit 1
for file in *.txt; do
  [ -e "$file" ] || continue
  [ -z "$(sort "$file" | uniq -d)" ] || { echo "$file has a line twice"; exit 1; }
  while read -r id; do [ -e "parts/$id" ] || { echo "no part $id"; exit 1; }; done < "$file"
done
"""
"""What belongs together came together: a line in a quarrelled file has its part."""


class Yard(Project):
    """The project, its tasks, and what must be true when they are done."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, initialised=True)
        self.write("agent.sh", AGENT)
        self.write("check.sh", GATE)
        self.agent("sh agent.sh", gates='test = "sh check.sh"', sandbox='mode = "off"')

    def plan(self, count: int, *, quarrels: int, seed: int = 1, nap: float = 0.0) -> list[str]:
        """So many tasks with random blockers; every third appends to one of a few files."""
        chance = random.Random(seed)
        drafts = []
        for number in range(count):
            words = []
            if number % 3 == 0:
                words.append(f"It appends to quarrel{number % quarrels}.txt.")
            words.append(f"It sleeps for {chance.uniform(0, nap):.3f} s.")
            earlier = [f"t-{one:06x}" for one in range(max(0, number - 12), number)]
            blockers = chance.sample(earlier, k=min(len(earlier), chance.choice((0, 0, 1, 2))))
            drafts.append(
                {
                    "id": f"t-{number:06x}",
                    "title": f"task {number}",
                    "description": " ".join(words),
                    "blockers": blockers,
                }
            )
        text = "".join(json.dumps(draft) + "\n" for draft in drafts)
        fed(self, text, "task", "import", "-")
        found = json.loads(self.ralph("task", "list", "--all", "--json"))
        return [str(one["id"]) for one in found]

    def merged(self) -> list[str]:
        """The tasks in the branch, in the order of their merges, one for each commit of theirs."""
        text = self.git("log", "--reverse", "--format=%(trailers:key=Ralph-Task,valueonly)")
        return [line for line in text.splitlines() if line]

    def check_all_done(self, tasks: Iterable[str]) -> None:
        """Every task is done, its work is in the branch once, and nothing is left behind."""
        assert {self.status(task) for task in tasks} == {"done"}
        parts = self.git("ls-tree", "--name-only", "HEAD", "parts/").splitlines()
        assert sorted(Path(one).name for one in parts) == sorted(tasks)
        assert self.git("status", "--porcelain") == ""
        left = [one.name for one in (self.path / ".ralph/checkouts").glob("*")]
        assert left == []
        self.git("fsck", "--strict", "--no-dangling")

    def check_every_merge(self, merges: Iterable[str], place: Path) -> None:
        """Each state that the branch ever had passes the gates."""
        self.git("worktree", "add", "-q", "--detach", str(place))
        for commit in merges:
            subprocess.run(["git", "checkout", "-q", commit], cwd=place, check=True)
            subprocess.run(["sh", "check.sh"], cwd=place, check=True)
        self.git("worktree", "remove", "--force", str(place))
