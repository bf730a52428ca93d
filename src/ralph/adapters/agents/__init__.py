"""Programs that can do a task. Each file knows one of them; nothing else does."""
