"""Is the output the target's own? Token by token at T = 0, by distribution above."""
