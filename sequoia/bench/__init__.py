"""Commands that measure, or compute from recordings.

The benchmark: __main__, decoders (the decoders it compares), outsiders (other engines), table
(timed rounds and the printed table), copies (copies of the target as drafts). Model types:
model_types, toy_models, toy_variants. All measurements in turn: stages. Shared: command.
"""
