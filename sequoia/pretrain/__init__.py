"""Trains the bundled pair, or another pair: `python -m sequoia.pretrain --help`. Decoding needs
none of this.

In reading order:
sources: where the text comes from
clean, prose, near: which parts of it are kept
prepare: runs all of these
corpus: your own text instead
tokenizer, encoded: text to tokens
recipe: sizes and schedule
model: networks, optimisers and two objectives
loops: the objective that teaches a target not to repeat itself
feed: the tokens of each step
train: the training loop and its checkpoints
stage: one model from start to saved folder
sample: text that a target writes for its draft
excerpts: texts to evaluate a pair on
"""
