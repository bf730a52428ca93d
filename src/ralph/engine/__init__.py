"""The loop: claim, compose, execute, judge, settle."""
