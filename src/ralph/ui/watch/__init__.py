"""The terminal view: a tree of tasks, and what is known about the one that is selected."""
