"""The project's own files."""
