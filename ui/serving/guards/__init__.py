"""Checks each HTTP request before Gradio gets it, with one rule per file. See `all_guards`."""
