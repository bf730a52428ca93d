"""Planning, round by round."""

from tests.e2e.arrows.row import END, Arrow, ends, logged, told
from tests.e2e.scenes import FRESH, PRD

PLANNING = [
    Arrow(
        "prerequisites",
        "PRD not found",
        "missing PRD",
        "plan without a PRD",
        lambda r: "there is no PRD" in r.out,
    ),
    Arrow("missing PRD", "", END, "plan without a PRD", ends(66)),
    Arrow(
        "prerequisites",
        "PRD exists",
        "state files",
        "plan once",
        lambda r: all(map(r.ralph, FRESH)),
    ),
    Arrow("state files", "", "iteration", "plan once", logged("ITERATION 1 start")),
    Arrow("iteration", "i <= maximum", "prompt", "plan twice", told(PRD, "\0", PRD, "\0")),
    Arrow("prompt", "", "log start", "plan once", logged("ITERATION 1 start (mode=plan")),
    Arrow("log start", "", "git state", "plan once", lambda r: "Head (before): " in r.summaries[0]),
    Arrow("git state", "", "run agent", "plan once", lambda r: r.sessions == 1),
    Arrow("run agent", "success", "results", "plan once", logged("status=success")),
    Arrow(
        "run agent",
        "error",
        "log error",
        "plan with an error",
        lambda r: ": error: " in r.ralph("errors.log"),
    ),
    Arrow(
        "log error", "", "results", "plan with an error", logged("status=error", "status=success")
    ),
    Arrow("run agent", "interrupted", END, "plan interrupted", ends(130)),
    Arrow("results", "", "run summary", "plan once", lambda r: len(r.summaries) == 1),
    Arrow("run summary", "", "activity summary", "plan once", logged("| iter=1 | mode=plan")),
    Arrow(
        "activity summary",
        "next iteration",
        "iteration",
        "plan twice",
        logged("ITERATION 1 end", "ITERATION 2 start"),
    ),
    Arrow("iteration", "i > maximum", "maximum reached", "plan twice", lambda r: r.sessions == 2),
    Arrow("maximum reached", "", END, "plan twice", ends(0)),
]
