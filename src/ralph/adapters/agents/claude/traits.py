"""What is special about Claude Code, as data."""

from typing import Final

from ralph.core.policy.tools import Toolbox
from ralph.ports.agent import Excerpt, Home, Traits

CREDENTIALS: Final = ".credentials.json"
SETTINGS: Final = "settings.json"

TRAITS: Final = Traits(
    name="claude",
    program="claude",
    install_hint="npm install -g @anthropic-ai/claude-code",
    login_hint="run `claude` once and log in, or run `claude setup-token`, set"
    ' CLAUDE_CODE_OAUTH_TOKEN, and name it in [agent] pass_env = ["CLAUDE_CODE_OAUTH_TOKEN"]',
    keys=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
    ),
    home=Home(
        variable="CLAUDE_CONFIG_DIR",
        folder=".claude",
        credentials=(CREDENTIALS,),
        # `env` holds the address and key of a gateway, where there is one.
        excerpts=(
            Excerpt(
                file=SETTINGS,
                keys=("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "env"),
            ),
        ),
    ),
    models={"haiku": "haiku", "sonnet": "sonnet", "opus": "opus"},
    hears=True,
    skills=".claude/skills",
    tools=Toolbox(
        names={
            **dict.fromkeys(("MultiEdit", "NotebookEdit"), ("Edit",)),
            **dict.fromkeys(("BashOutput", "KillShell", "KillBash", "Monitor"), ("Bash",)),
            **dict.fromkeys(("NotebookRead", "LSP", "Skill", "ToolSearch"), ("Read",)),
            **dict.fromkeys(("ListMcpResourcesTool", "ReadMcpResourceTool"), ("Read",)),
            **dict.fromkeys(("Agent", "TaskOutput", "TaskStop"), ("Task",)),
            **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), ("TodoWrite",)),
            "TodoRead": ("TodoWrite",),
            "LS": ("Glob",),
            "EnterPlanMode": ("ExitPlanMode",),
            # How it answers when it was asked for JSON.
            "StructuredOutput": ("Read",),
        }
    ),
)
