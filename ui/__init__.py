"""The page: everything that a visitor sees and presses.

Reading order: shared (forms, labels, markup, theme), serving (sessions, the queue, the loaded
models, jobs in threads), decode (one run, step by step), the other tabs, page (puts all tabs
together). record makes the recorded files in assets.
"""
