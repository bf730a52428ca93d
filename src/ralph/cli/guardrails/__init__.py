"""Lessons that every session is to follow."""
