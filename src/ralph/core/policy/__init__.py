"""What a session may call: one pure decision for hooks, SDK, MCP and `ralph policy check`."""
