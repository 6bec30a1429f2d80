"""Serves visitors: limits and guards, the queue, the loaded pair, and jobs in threads."""
