"""The Run view: one to four ways to decode a prompt, side by side."""
