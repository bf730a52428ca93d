"""Who is asked, and how."""

from tests.e2e.arrows.row import END, Arrow, ends, told
from tests.e2e.scenes import ONE, PRD

AGENTS = [
    Arrow("override?", "--agent", "resolve", "agent by flag", lambda r: "claude" in r.out),
    Arrow(
        "override?",
        "AGENT_CMD",
        "resolve",
        "agent by environment",
        lambda r: r.file("work.txt") == "US-001\n",
    ),
    Arrow("override?", "none", "configuration", "agent by default", ends(69)),
    Arrow(
        "configuration",
        "agents.sh exists",
        "agents.sh",
        "agent by agents.sh",
        lambda r: "droid" in r.out,
    ),
    Arrow("agents.sh", "", "resolve", "agent by agents.sh", lambda r: "codex" not in r.out),
    Arrow("configuration", "no agents.sh", "codex", "agent by default", lambda r: "codex" in r.out),
    Arrow("codex", "", "resolve", "agent by default", lambda r: "codex" in r.out),
    Arrow("resolve", "codex", "installed?", "agent by default", lambda r: "codex" in r.out),
    Arrow("resolve", "claude", "installed?", "agent by flag", lambda r: "claude" in r.out),
    Arrow("resolve", "droid", "installed?", "agent by agents.sh", lambda r: "droid" in r.out),
    Arrow(
        "installed?",
        "command not found",
        "install hint",
        "agent by default",
        lambda r: "hint: " in r.out,
    ),
    Arrow("install hint", "", END, "agent by flag", ends(69)),
    Arrow("installed?", "available", "mode", "agent that reads", lambda r: r.code == 4),
    Arrow(
        "mode",
        "prd command",
        "interactive",
        "prd, asked at a terminal",
        lambda r: r.file(PRD) == ONE,
    ),
    Arrow(
        "mode",
        "build or plan",
        "headless",
        "agent that reads",
        lambda r: "US-001" in r.file("work.txt"),
    ),
    Arrow("interactive", "", "prompt", "prd, asked at a terminal", told("sells tea")),
    Arrow("headless", "", "prompt", "agent that reads", told("It is the story US-001")),
    Arrow("prompt", "{prompt}", "file", "agent that opens a file", told("It is the story US-001")),
    Arrow(
        "prompt",
        "no {prompt}",
        "standard input",
        "agent that reads",
        told("It is the story US-001"),
    ),
    Arrow(
        "file", "", "execute", "agent that opens a file", lambda r: r.file("work.txt") == "US-001\n"
    ),
    Arrow(
        "standard input",
        "",
        "execute",
        "agent that reads",
        lambda r: r.file("work.txt") == "US-001\n",
    ),
    Arrow(
        "execute",
        "",
        "output",
        "agent by environment",
        lambda r: any("env\n" in one for one in r.logs),
    ),
    Arrow("output", "", END, "agent that reads", ends(4)),
]
