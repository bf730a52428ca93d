"""What sessions have learned."""
