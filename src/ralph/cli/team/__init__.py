"""Commands for teams."""
