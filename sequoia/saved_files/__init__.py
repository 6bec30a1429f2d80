"""Runs and races as files: run_file, race_file, check_fields (what both check in a file)."""
