"""Is the output the target's own? Token by token at temperature 0, as a distribution above."""
