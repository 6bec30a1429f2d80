"""The paper's experiments and one more (chain), for any pair: `python -m sequoia.experiments NAME`.

Reading order:
- result (the values that an experiment returns), experiment (units of work and their summary),
  registry (the list of experiments);
- runner and unit_log (run the units, resume after an interruption), command;
- intervals (means and ratios over prompts);
- prompts, continuations, planned (the acceptance to plan trees with), text_units (measurements
  along one text), drafted_trees and traversal_gain (verifiers that look at whole paths);
- the experiments: budget, temperature, top_p, ranks, specinfer, hardware and chain, with their
  helper files.
"""
