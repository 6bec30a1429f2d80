"""Weight files: their headers, what is missing or left over, and whether all are numbers."""
