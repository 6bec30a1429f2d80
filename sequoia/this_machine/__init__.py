"""This computer: free memory, GPU health, dtypes, timers and worker processes."""
