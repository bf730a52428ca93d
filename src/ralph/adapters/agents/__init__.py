"""Agent adapters. Each module knows one agent program."""
