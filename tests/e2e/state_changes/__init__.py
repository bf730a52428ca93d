"""The diagrams of the story pipeline, as tables."""
