"""Commands that measure, or compute from recordings.

The benchmark: __main__, decoders (the decoders it compares), outsiders (other engines), table
(timed rounds and the printed table). All commands share command.
"""
