"""Runs and races as files: run_meta (their description), run_file, race_file, pooled_runs (a race's
further runs)."""
