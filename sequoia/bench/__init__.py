"""Commands that measure, or compute from recordings.

The benchmark: benchmark, decoders (the decoders it compares), table (timed rounds and the printed
table), verifier_gains. Models of real shapes: random_weights. Model types: model_types,
toy_models, toy_variants. Acceptance by kind of text:
acceptance_survey. Error rates of a race's verdict: race_errors and recorded_steps, expected_errors.
Plans for known machines, predicted from recorded acceptance: ready_profiles. All of them in turn:
stages. Shared: command, prompts.
"""
