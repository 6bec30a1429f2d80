"""Runs and races as files: run_file, race_file, pooled_runs (a race's further runs), check_fields
(checks used by all of these)."""
