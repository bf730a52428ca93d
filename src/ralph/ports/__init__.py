"""The interfaces that the engine needs, as small protocols."""
