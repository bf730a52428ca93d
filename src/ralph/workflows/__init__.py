"""The front doors, as short stories told with the engine."""
