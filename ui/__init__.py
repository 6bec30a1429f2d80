"""The page: everything a visitor sees and presses. `sequoia` never imports it.

Reading order: shared (forms, labels, markup, theme), serving (sessions, the queue, the loaded
models, jobs in threads), decode (one run, step by step), race, hardware, models, lab, page (all
views put together).
"""
