"""Sequoia's algorithm (arXiv 2402.12374) on plain numbers: no models, no hardware, no files.

Reading order: tree, acceptance, expected_tokens, best_tree (the optimal tree), sampling_params,
sampling (probabilities, and how tokens are drawn), verifiers (which drafted tokens are accepted),
step_trace (the record of one step), expected_steps (an exact average over the random draws),
residual_heads (the probabilities that a picture of a step shows), progress
(callbacks of long work).
"""
