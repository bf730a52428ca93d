"""Diagram 3: planning, round by round."""

from tests.e2e.pipeline_runs import FRESH, PLAN, PRD
from tests.e2e.state_changes.row import END, START, Arrow, ends, logged, told

PLANNING = [
    Arrow(START, "", "init planning", "plan without a PRD", lambda r: "ralph: " in r.out),
    Arrow("init planning", "", "check prerequisites", "plan without a PRD", lambda r: PRD in r.out),
    Arrow(
        "check prerequisites",
        "PRD not found",
        "missing PRD",
        "plan without a PRD",
        lambda r: "there is no PRD" in r.out,
    ),
    Arrow("missing PRD", "", END, "plan without a PRD", ends(66, "ralph story write")),
    Arrow("check prerequisites", "PRD exists", "load config", "plan once", ends(0)),
    Arrow(
        "load config",
        "",
        "create state files",
        "plan once",
        lambda r: all(map(r.ralph, FRESH)),
    ),
    Arrow("create state files", "", "start iteration", "plan once", logged("ITERATION 1 start")),
    Arrow(
        "start iteration", "i <= maximum", "render prompt", "plan twice", told(PRD, "\0", PRD, "\0")
    ),
    Arrow("start iteration", "i > maximum", "max reached", "plan twice", lambda r: r.sessions == 2),
    Arrow("render prompt", "", "log start", "plan once", logged("ITERATION 1 start (mode=plan")),
    Arrow(
        "log start",
        "",
        "capture git state",
        "plan once",
        lambda r: "Head (before): " in r.summaries[0],
    ),
    Arrow("capture git state", "", "run agent", "plan once", lambda r: r.sessions == 1),
    Arrow("run agent", "", "agent success", "plan once", lambda r: "step" in r.file(PLAN)),
    Arrow("run agent", "", "agent error", "plan with an error", lambda r: "exited with 3" in r.out),
    Arrow("run agent", "", "agent interrupted", "plan interrupted", lambda r: "SIGINT" in r.out),
    Arrow("agent success", "", "capture results", "plan once", logged("status=success")),
    Arrow(
        "agent error",
        "",
        "log error",
        "plan with an error",
        lambda r: ": error: " in r.ralph("errors.log"),
    ),
    Arrow("agent interrupted", "", END, "plan interrupted", ends(130)),
    Arrow(
        "log error",
        "",
        "capture results",
        "plan with an error",
        logged("status=error", "status=success"),
    ),
    Arrow("capture results", "", "write run meta", "plan once", lambda r: len(r.summaries) == 1),
    Arrow(
        "write run meta", "", "append activity summary", "plan once", logged("| iter=1 | mode=plan")
    ),
    Arrow("append activity summary", "", "next iteration", "plan twice", logged("ITERATION 1 end")),
    Arrow(
        "next iteration",
        "",
        "start iteration",
        "plan twice",
        logged("ITERATION 1 end", "ITERATION 2 start"),
    ),
    Arrow("max reached", "", END, "plan twice", ends(0)),
]
