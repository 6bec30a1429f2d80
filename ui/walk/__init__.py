"""The Walk tab: the verification of one step. The step belongs to a real run, or to a small example
that the visitor edits.

Read tab.py (the component and the browser's two requests), then web/ (everything else).
"""
