"""The workflows behind the commands: features, stories, goals, the demo."""
