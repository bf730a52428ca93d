"""What a person types: argv in, one call, an exit code out. One file per command."""
