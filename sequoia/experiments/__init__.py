"""The paper's experiments and one more (chain), for any pair: `python -m sequoia.experiments NAME`.

Numbers and codes only; the words about them are in ui/words/experiments.py. Reading order:
- experiment (a grid of units, a measurement, pairs of lanes), result (rows, ratios, intervals),
  registry (the list of experiments), claims (verdicts on the paper's claims);
- runner (runs the units, resumes after an interruption), __main__ (the command);
- texts (with the acceptance to plan trees with), steps_along (single steps along a text);
- the experiments: budget, verifiers (temperature and top-p), ranks, specinfer, hardware, and chain
  with its decoders and drafts.
"""
