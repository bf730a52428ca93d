"""Kimi Code as an agent."""
