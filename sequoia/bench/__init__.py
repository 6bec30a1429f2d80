"""Commands that measure, or compute from recordings.

The benchmark: __main__, decoders (the decoders it compares), outsiders (other engines), table
(timed rounds and the printed table), outside_models (what a step costs outside the models). All
commands share command.
"""
