"""Adds up a ledger."""
