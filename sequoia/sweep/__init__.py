"""Tests which model types can run a token tree: builds a toy model of every causal type in the
installed `transformers` and decodes with it.

    python -m sequoia.sweep                    all types; writes the list that the Models tab shows
    python -m sequoia.sweep --only llama phi3  only these types; writes nothing

Reading order: toy_configs (a small config of any type), variants (the changes to it), toy_models,
trial (one toy pair decoded and compared), children (trials in separate processes), summary (the
outcomes of a type as a line of the list), __main__.
"""
