"""The only place where the parts meet, by theme. What is heavy is imported where it is used."""
