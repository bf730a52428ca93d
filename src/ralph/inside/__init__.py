"""What a running session can call back."""
