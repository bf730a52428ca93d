"""Building, iteration by iteration."""

from tests.e2e.arrows.row import END, Arrow, ends, logged, told
from tests.e2e.scenes import FRESH, ONE, PRD

BUILDING = [
    Arrow(
        "prerequisites",
        "PRD missing",
        "missing PRD",
        "build without a PRD",
        lambda r: "there is no PRD" in r.out,
    ),
    Arrow("missing PRD", "", END, "build without a PRD", ends(66, "ralph prd")),
    Arrow(
        "prerequisites",
        "plan missing",
        "missing plan",
        "build without a plan",
        lambda r: "there is no plan" in r.out,
    ),
    Arrow("missing plan", "", END, "build without a plan", ends(66, "ralph plan")),
    Arrow(
        "prerequisites",
        "all files exist",
        "state files",
        "build",
        lambda r: all(map(r.ralph, FRESH)),
    ),
    Arrow("state files", "", "iteration", "build", logged("ITERATION 1 start")),
    Arrow("iteration", "i > maximum", "maximum reached", "build once", lambda r: r.sessions == 1),
    Arrow("maximum reached", "", END, "build once", ends(4)),
    Arrow(
        "iteration",
        "i <= maximum",
        "parse stories",
        "build",
        logged("ITERATION 2 start (mode=build story=US-002"),
    ),
    Arrow(
        "parse stories",
        "parsing failed",
        "no stories",
        "build without stories",
        lambda r: "there are no stories" in r.out,
    ),
    Arrow("no stories", "", END, "build without stories", ends(66)),
    Arrow(
        "parse stories",
        "remaining = 0",
        "all done",
        "build with all done",
        lambda r: r.sessions == 0,
    ),
    Arrow("all done", "", END, "build with all done", ends(0)),
    Arrow("parse stories", "remaining > 0", "story found", "build", lambda r: r.sessions == 2),
    Arrow("story found", "", "story block", "build", told(ONE, "\0")),
    Arrow(
        "story block", "", "prompt", "build", told("It is the story US-001", ONE, "the first step")
    ),
    Arrow(
        "prompt", "", "log start", "build", logged("ITERATION 1 start (mode=build story=US-001)")
    ),
    Arrow("log start", "", "git before", "build", lambda r: "Head (before): " in r.summaries[0]),
    Arrow(
        "git before", "", "run agent", "build", lambda r: r.file("work.txt") == "US-001\nUS-002\n"
    ),
    Arrow("run agent", "interrupted", END, "build interrupted", ends(130)),
    Arrow("run agent", "success", "completion signal", "build", logged("status=success")),
    Arrow(
        "run agent",
        "error",
        "log error",
        "build with an error",
        lambda r: "story=US-001: error: " in r.ralph("errors.log"),
    ),
    Arrow("log error", "", "uncommitted", "build with an error", logged("status=error", "WARNING")),
    Arrow(
        "completion signal",
        "complete",
        "verify all done",
        "build once",
        lambda r: "[ ] US-002" in r.file(PRD),
    ),
    Arrow("verify all done", "all stories checked", END, "build", ends(0)),
    Arrow(
        "verify all done", "stories remain", "next iteration", "build", lambda r: r.sessions == 2
    ),
    Arrow(
        "completion signal",
        "no signal",
        "uncommitted",
        "build with an error",
        lambda r: r.sessions == 3 and r.code == 0,
    ),
    Arrow(
        "uncommitted",
        "dirty",
        "warning",
        "build",
        lambda r: "left uncommitted changes: work.txt" in r.out,
    ),
    Arrow(
        "warning",
        "",
        "log warning",
        "build",
        logged("WARNING US-001: the session left uncommitted"),
    ),
    Arrow("log warning", "", "git after", "build", lambda r: "Head (after): " in r.summaries[0]),
    Arrow(
        "uncommitted",
        "clean",
        "git after",
        "build by an agent that commits",
        lambda r: "WARNING" not in r.ralph("activity.log"),
    ),
    Arrow(
        "uncommitted",
        "no commit",
        "git after",
        "build without commits",
        lambda r: "WARNING" not in r.ralph("activity.log"),
    ),
    Arrow("git after", "", "run summary", "build", lambda r: len(r.summaries) == 2),
    Arrow(
        "run summary",
        "",
        "activity summary",
        "build",
        logged("| iter=1 | mode=build | story=US-001"),
    ),
    Arrow(
        "activity summary",
        "recheck stories",
        "next iteration",
        "build",
        logged("ITERATION 1 end", "ITERATION 2 start"),
    ),
    Arrow(
        "next iteration", "", "iteration", "build", told("US-001", "\0", "It is the story US-002")
    ),
]
