"""How the bundled pair was made, runnable again: `python -m sequoia.pretrain --help`.

Reading order. The text: sources (where it is found), clean, prose and near (what is kept of it),
prepare (all of that together), corpus (text of one's own instead), tokenizer, encoded
(text to tokens). The training: recipe (sizes and schedule), model (networks, optimisers and the two
objectives), feed (which tokens a step takes), train (the loop and its checkpoints), stage (one
model from start to saved folder). Beside them: sample (what a target writes, for its draft),
excerpts (texts to judge a pair by). Decoding needs none of this.
"""
