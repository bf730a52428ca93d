"""The web page of `ralph serve`."""
