"""The paper's algorithm on plain numbers: no models, no hardware, no files.

Reading order: tree, acceptance, best_tree (the optimal tree), sampling_params, distributions,
sampling (how tokens are drawn), verifiers (which drafted tokens are accepted), step_trace (the
record of one step).
"""
