"""Tasks that have a file each: `*.code-task.md`."""
