"""Claude Code, led by the Claude Agent SDK."""
