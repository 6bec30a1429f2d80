"""A test that compares many samples of a decoder with the target's exact distribution, and predicts
which bugs it would find.

losslessness_test (one test from end to end), settings (what is sampled), toy and pair_rows (where p
and q come from), cells (what is counted), table_step and sampling (the samples), comparison (counts
against the distribution), enumerator and exact_output (the exact output distribution of a correct
or broken decoder), broken (historical bugs, to show that the test finds them).
"""
