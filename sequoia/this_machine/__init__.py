"""This computer: free memory, GPU health, dtypes, and timers."""
