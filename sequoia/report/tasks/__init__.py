"""The tasks of a report. Each runs in a process of its own and writes what it found to outcome.json
in the current folder.

machine.py, pairs.py, shapes.py and the files in card_checks/ contain the tasks; run_task.py calls
them.
"""
