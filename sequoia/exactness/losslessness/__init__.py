"""A test that compares many samples of a decoder with the target's exact distribution, and predicts
which bugs it would find.

losslessness_test (one test from end to end), settings (what is sampled), tested_models (where p and
q come from), table_step and sampling (the samples), comparison (what is counted, and how it
compares with the distribution), enumerator (exact distributions), broken (historical bugs, to show
that the test finds them).
"""
