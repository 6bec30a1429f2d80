"""Runs and races, the same in memory, in files and in messages: run_meta (their description),
run_file, race_file, race_results (the analysis after a race).
"""
