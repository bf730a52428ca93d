"""Diagrams 1 and 2: the whole, and how a PRD comes about."""

from tests.e2e.pipeline_runs import ONE, PLAN, PRD
from tests.e2e.state_changes.row import END, START, Arrow, ends, logged, told

SYSTEM = [
    Arrow(START, "", "PRD generation", "prd, asked in a sentence", lambda r: r.file(PRD) == ONE),
    Arrow(
        "PRD generation", "ralph plan", "planning", "plan once", lambda r: "step" in r.file(PLAN)
    ),
    Arrow(
        "planning",
        "refine",
        "planning",
        "plan twice",
        lambda r: r.file(PLAN).endswith("\nstep\nstep\n"),
    ),
    Arrow("planning", "ralph build", "build loop", "build", ends(0)),
    Arrow("build loop", "", "story selection", "build", logged("mode=build story=US-001")),
    Arrow("story selection", "", "story implementation", "build", told("It is the story US-001")),
    Arrow(
        "story implementation", "", "story complete", "build", lambda r: "[x] US-001" in r.file(PRD)
    ),
    Arrow(
        "story complete", "more stories", "story selection", "build", told("US-001", "\0", "US-002")
    ),
    Arrow(
        "story complete",
        "all stories done",
        END,
        "build",
        lambda r: r.code == 0 and "[ ]" not in r.file(PRD),
    ),
]

PRD_GENERATION = [
    Arrow(START, "", "check input", "prd, asked in a sentence", ends(0)),
    Arrow(
        "check input",
        "request provided",
        "load agent",
        "prd, asked in a sentence",
        told("sells tea"),
    ),
    Arrow(
        "check input", "request in a file", "load agent", "prd, asked in a file", told("sells tea")
    ),
    Arrow(
        "check input",
        "no request",
        "prompt user",
        "prd, asked at a terminal",
        lambda r: "What do you want" in r.out,
    ),
    Arrow("prompt user", "user cancels", "cancelled", "prd, cancelled", lambda r: r.told == ""),
    Arrow(
        "prompt user",
        "user provides request",
        "load agent",
        "prd, asked at a terminal",
        told("sells tea"),
    ),
    Arrow(
        "load agent",
        "",
        "select agent type",
        "prd, asked at a terminal",
        lambda r: "command takes over" in r.out,
    ),
    Arrow(
        "select agent type",
        "agent configured",
        "run PRD skill",
        "prd, asked at a terminal",
        told(PRD),
    ),
    Arrow(
        "run PRD skill",
        "",
        "generate PRD",
        "prd, asked in a sentence",
        told(PRD, "sells tea", "Do not build anything"),
    ),
    Arrow(
        "generate PRD",
        "",
        "write PRD file",
        "prd, asked in a sentence",
        lambda r: r.file(PRD) == ONE,
    ),
    Arrow("write PRD file", "", END, "prd, asked in a sentence", ends(0, "next: ralph story plan")),
    Arrow("cancelled", "", END, "prd, cancelled", lambda r: r.code == 130 and not r.file(PRD)),
]
