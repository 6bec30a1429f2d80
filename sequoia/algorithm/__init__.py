"""The paper's algorithm, on numbers alone: no models, no hardware, no files.

Reading order: tree, acceptance, best_tree (which tree is best), sampling_params, distributions,
sampling (how tokens are drawn), verifiers (which are kept), step_trace (what one step leaves
behind).
"""
