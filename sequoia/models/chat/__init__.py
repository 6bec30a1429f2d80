"""Chat templates, rendered in a separate process."""
