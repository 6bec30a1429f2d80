"""Everything worth knowing about this machine, in one command that can be stopped and continued:
`python -m sequoia.report`.

stage.py: one piece of work. stages.py: the list of all. choose.py: which of them fit into the time.
run_stage.py: runs one in a process of its own. folder.py: keeps their results. collect.py: runs
them all. adopt.py: moves results into the assets. tasks/: what the processes do.
"""
