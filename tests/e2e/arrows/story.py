"""What a session does with its story: it is told to, and what it leaves is seen."""

from tests.e2e.arrows.row import END, Arrow, ends, in_order, logged, told
from tests.e2e.scenes import ONE, PLAN, PRD

STORY = [
    Arrow("start", "", "read guardrails", "build", told(".ralph/guardrails.md")),
    Arrow("read guardrails", "", "read errors log", "build", told("guardrails.md", "errors.log")),
    Arrow("read errors log", "", "read PRD", "build", told(PRD, ONE)),
    Arrow("read PRD", "", "read plan", "build", told("Its steps are in", PLAN)),
    Arrow(
        "read plan", "section exists", "audit code", "build", told("US-001", "the first step", "\0")
    ),
    Arrow(
        "read plan",
        "no section",
        "create section",
        "build",
        lambda r: (
            "the first step" not in r.told.split("\0")[1] and "write one" in r.told.split("\0")[1]
        ),
    ),
    Arrow("create section", "", "audit code", "build", told("write one", "Read the code")),
    Arrow(
        "audit code",
        "",
        "read files",
        "build",
        told("Read the code that it touches", "Do not assume"),
    ),
    Arrow(
        "read files", "AGENTS.md exists", "read AGENTS.md", "build with rules", told("Use tabs.")
    ),
    Arrow("read files", "no AGENTS.md", "implement", "build", lambda r: "Use tabs." not in r.told),
    Arrow(
        "read AGENTS.md", "", "implement", "build with rules", lambda r: r.file("work.txt") != ""
    ),
    Arrow(
        "implement", "", "verification", "build that fails and is mended", lambda r: r.sessions == 2
    ),
    Arrow(
        "verification",
        "fail",
        "debug and fix",
        "build that fails and is mended",
        told("\0", "gate test fails"),
    ),
    Arrow(
        "debug and fix",
        "",
        "verification",
        "build that fails and is mended",
        logged("status=rejected", "status=success"),
    ),
    Arrow("verification", "pass", "update plan", "build", told("Tick the steps")),
    Arrow("update plan", "", "update criteria", "build", told("tick the criteria of this story")),
    Arrow(
        "update criteria",
        "all checked",
        "story complete",
        "build with all criteria",
        lambda r: "### [x] US-001: One\n- [x] a\n- [x] b\n" in r.file(PRD),
    ),
    Arrow(
        "update criteria",
        "some pending",
        "should commit",
        "build with some criteria",
        lambda r: "### [ ] US-001: One\n- [x] a\n- [ ] b\n" in r.file(PRD),
    ),
    Arrow("story complete", "", "should commit", "build", lambda r: "US-001: One" in r.commits),
    Arrow(
        "should commit",
        "no commit",
        "progress entry",
        "build without commits",
        lambda r: "US-001: One" not in r.commits,
    ),
    Arrow(
        "should commit", "commit", "stage changes", "build", lambda r: "US-002: Two" in r.commits
    ),
    Arrow(
        "stage changes",
        "",
        "commit changes",
        "build",
        lambda r: in_order(r.shown, "prd.md", "progress.md", "work.txt"),
    ),
    Arrow("commit changes", "", "verify clean", "build", lambda r: r.status == ""),
    Arrow(
        "verify clean",
        "files left",
        "warning",
        "build without commits",
        lambda r: "work.txt" in r.status,
    ),
    Arrow(
        "verify clean",
        "clean",
        "commit hash",
        "build by an agent that commits",
        lambda r: "Commit: " in r.ralph("progress.md"),
    ),
    Arrow(
        "warning",
        "",
        "progress entry",
        "build without commits",
        lambda r: "  - work.txt" in r.ralph("progress.md"),
    ),
    Arrow(
        "commit hash",
        "",
        "progress entry",
        "build by an agent that commits",
        lambda r: "US-001: One" in r.ralph("progress.md"),
    ),
    Arrow(
        "progress entry",
        "",
        "append",
        "build",
        lambda r: in_order(r.ralph("progress.md"), "# Progress Log", "US-001: One", "US-002: Two"),
    ),
    Arrow("append", "stories remain", END, "build once", ends(4)),
    Arrow(
        "append",
        "no unchecked stories",
        "completion signal",
        "build",
        lambda r: "[ ]" not in r.file(PRD),
    ),
    Arrow("completion signal", "", END, "build", ends(0)),
]
