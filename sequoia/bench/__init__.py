"""Commands that measure, or compute from recordings.

The benchmark: benchmark, decoders (the decoders it compares), table (timed rounds and the printed
table), verifier_gains. Models of real shapes: random_weights. Acceptance by kind of text:
acceptance_survey. Judging a pair by its text: pair_judge, judged_table, parses. Error rates of a
race's verdict: race_errors and recorded_steps, expected_errors. Plans for known machines, predicted
from recorded acceptance: ready_profiles. Shared: command, prompts.
"""
