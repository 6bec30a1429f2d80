"""Many samples of a decoder against the target's exact distribution, and what such a test can find.

settings (what is sampled), toy and pair_rows (where p and q come from), cells (what is counted),
sampling (the samples), comparison (counts against the distribution, and the verdict), enumerator
and exact_output (the output distribution of a decoder, correct or not), broken (historical bugs, to
show that the test finds them).
"""
