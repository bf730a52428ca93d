"""GitHub Copilot CLI as an agent."""
