"""Joins all parts of Ralph. Heavy modules are imported where they are used."""
