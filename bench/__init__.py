"""What Ralph costs, measured, each figure against a bar. `python -m bench`."""
