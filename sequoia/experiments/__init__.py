"""The paper's experiments, run again with any pair: `python -m sequoia.experiments NAME`.

Reading order: result (what an experiment found), experiment (units of work and their summary),
registry (the list of all), runner and unit_log (run the units, resume after an interruption),
command; intervals (means and ratios over prompts); prompts, continuations, planned, text_units
(what is measured along one text), drafted_trees and traversal_gain (verifiers that look at whole
paths); then the experiments, one file each.
"""
