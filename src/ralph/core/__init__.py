"""Pure values and decisions. This package uses no files, processes, clocks or databases."""
