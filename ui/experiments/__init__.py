"""The Experiments tab: the paper's experiments, recorded ones to look at and small ones to run.

tab (the view and its requests), experiment_job (a run in the queue), kept_units (what a visitor has
finished), messages (what the browser is sent), web (the rest, which runs in the browser).
"""
