"""The Walk tab: one step of verification, on a small example that the visitor edits or on a step of
a real run.

Read tab.py (the component and the browser's two requests), then web/ (all else, in the browser).
"""
