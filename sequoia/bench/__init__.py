"""Commands that measure: the benchmark, random-weight shapes, acceptance survey, judge of pairs.

benchmark, decoders (who takes part), table (rounds and columns), prompts; random_weights;
acceptance_survey; pair_judge, parses.
"""
