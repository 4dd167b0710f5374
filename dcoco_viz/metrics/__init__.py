"""Numbers from runs: pure functions, trace in, numbers out. What each number means: metrics/names.py."""
