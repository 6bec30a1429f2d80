"""Distills a draft for a Llama-like target from the target's own layers.

command (the command line), prompts (for the target's own answers), teacher (the target's answers
and its probabilities), shards (the files these are kept in), draft (the layers and their file),
train, measure (the sum of min(p, q) on held-out text).
"""
