"""What the processes of a report do. Each task returns what it found, which is written to
outcome.json in the folder it runs in.

run_task.py: calls a task and writes its outcome. The others: one kind of task each.
"""
