"""Features: from an idea to tasks."""
