"""The `ralph task` commands."""
