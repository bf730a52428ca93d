"""Pi as an agent."""
