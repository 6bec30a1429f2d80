"""Compares many samples of a decoder with the target's exact distribution, and predicts which bugs
such a test would find.

losslessness_test (one test from end to end), settings (what is sampled), toy and pair_rows (where p
and q come from), cells (what is counted), table_step and sampling (the samples), comparison (counts
against the distribution), enumerator and exact_output (the output distribution of a decoder,
correct or not), broken (historical bugs, to show that the test finds them).
"""
