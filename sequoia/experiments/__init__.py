"""The paper's experiments, run again with any pair: `python -m sequoia.experiments NAME`.

Reading order: result (what an experiment found), experiment (units of work and their summary),
registry (the list of all), runner (runs the units, resumes after an interruption), command;
intervals (means and ratios over prompts), then one file for each experiment.
"""
