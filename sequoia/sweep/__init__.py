"""Tests which model types can run a token tree. Builds a toy model of every causal type in the
installed `transformers` and decodes with it.

    python -m sequoia.sweep                    all types; unless a model decodes wrongly or crashes,
                                               writes the list that the Models tab shows
    python -m sequoia.sweep --only llama phi3  only these types; writes nothing

Reading order: toy_configs, variants, toy_models, trial, children, summary, __main__.
"""
