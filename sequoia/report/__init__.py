"""A command that measures, checks and records what this machine can do: `python -m sequoia.report`.

stage.py: a stage, one piece of work. stages.py: the list of all stages. choose.py: which stages fit
into the time. machine.py: what the stages need to know about the machine. run_stage.py: runs one
stage in a separate process. child.py: the script of that process. folder.py: stores the results.
collect.py: runs the chosen stages. adopt.py: moves results into the assets. command.py: the command
and its options. tasks/: the work done in the processes.
"""
