"""Shell commands, read and thought about; never run."""
