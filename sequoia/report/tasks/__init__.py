"""The tasks that the stages of a report run in their processes. Each task returns what it found,
which is written to outcome.json in the folder the task runs in.

run_task.py calls a task and writes its outcome. found.py is the value that a task returns.
machine.py, pairs.py, shapes.py and the files in card_checks/ contain the tasks.
"""
