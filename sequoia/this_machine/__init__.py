"""This computer: free memory, dtypes, timers and worker processes."""
