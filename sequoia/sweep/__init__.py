"""Tests which model types can run a token tree: builds a toy model of every causal type in the
installed `transformers` and decodes with it.

    python -m sequoia.sweep                    all types; writes the list that the Models tab shows,
                                               unless a model decodes wrongly or crashes
    python -m sequoia.sweep --only llama phi3  only these types; writes nothing

Reading order: toy_configs (a small config of any type), variants (changes to that config),
toy_models, trial (decodes with one toy pair and compares), children (runs trials in separate
processes), summary (turns the outcomes of a type into an entry of the list), __main__.
"""
