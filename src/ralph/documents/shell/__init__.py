"""Shell commands, parsed and thought about; never run."""
