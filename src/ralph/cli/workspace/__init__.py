"""Private checkouts."""
