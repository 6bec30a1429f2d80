"""How the bundled pair was made, runnable again: `python -m sequoia.pretrain --help`.

Reading order: corpus (which text), tokenizer (text to tokens), recipe (sizes and schedule), model (networks, optimisers and the
two objectives), train (the loop and its checkpoints), stage (one model from start to saved folder). Decoding needs none of this.
"""
