"""The paper's experiments and one more (chain), for any pair: `python -m sequoia.experiments NAME`.

Numbers and codes only; the words about them are in ui/experiments/words. Reading order:
- experiment (a grid of units, a measurement, pairs of lanes), result (rows and ratios), estimates
  (means and ratios over prompts), registry (the list of experiments);
- runner (runs the units, resumes after an interruption), command;
- texts, planned (the acceptance to plan trees with), steps_along (single steps along a text);
- the experiments: budget, verifiers (temperature and top-p), ranks, specinfer, hardware, and chain
  with rivals and draft_quality.
"""
