"""Factory's Droid as an agent."""
