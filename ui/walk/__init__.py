"""The Walk tab: one step of verification, on a small example that the visitor edits or on a step of
a real run.

tab (the view and its requests), web (the rest, which runs in the browser).
"""
