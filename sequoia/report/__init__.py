"""Everything worth knowing about this machine, in one command that can be stopped and continued:
`python -m sequoia.report`.

stage.py: one piece of work. stages.py: all of them. choose.py: which of them fit the time.
run_stage.py: one of them in a process of its own. folder.py: their results. collect.py: all
together. adopt.py: results that become files of the program. tasks/: what the processes do.
"""
