"""A test that compares many samples of a decoder with the target's exact distribution, and predicts
which bugs it would find.

losslessness_test (one test from end to end), settings (what is sampled), tested_models (where p and
q come from, and a step with them), comparison (what is counted, and how it compares with the
distribution), enumerator (exact distributions), bugs (historical ones, to show that the test finds
them).
"""
