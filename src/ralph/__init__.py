"""Ralph turns an idea into verified commits."""

__version__ = "0.1.0"
