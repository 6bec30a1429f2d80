"""Checks of each HTTP request before Gradio gets it, one rule per file. See `all_guards`."""
