"""This computer: free memory, number types, timers and worker processes."""
