"""Which model types can run a token tree: every causal type of the installed `transformers`, built
at toy size and tried.

    python -m sequoia.sweep                    all types; writes the list that the Models tab shows
    python -m sequoia.sweep --only llama phi3  some of them; writes nothing

Reading order: toy_configs (a small config of any type), variants (what is changed about it), trial
(one toy pair decoded and compared), children (each type in a process of its own), __main__.
"""
