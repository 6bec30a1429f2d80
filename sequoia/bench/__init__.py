"""Commands that measure: the benchmark, pairs with random weights, the acceptance survey, the
evaluation of a pair, the error rates of a race's verdict.

benchmark, decoders (those that are compared), table (rounds and columns), prompts; random_weights;
acceptance_survey; pair_judge, parses; race_errors, recorded_steps; ready_profiles (plans for known
machines, which measure nothing); command (what all commands share).
"""
