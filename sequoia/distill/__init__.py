"""Distills a draft for a Llama-like target from a few of the target's own layers.

__main__ (the command line), teach (the target's answers and its distributions along texts),
shards (the files of these texts, and batches of them), train.
"""
