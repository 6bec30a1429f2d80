"""Checks that the output is the target's own: token by token at temperature 0, as a distribution at
higher temperatures.

same_tokens (temperature 0), same_distribution (temperatures above 0), losslessness (a larger test,
and bugs that it should find), chi_square (the test that same_distribution and losslessness use)."""
