"""What a running session can call: tools, hooks and the store."""
