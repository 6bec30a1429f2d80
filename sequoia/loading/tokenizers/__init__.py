"""Tokenizers: tested in a separate process, and compared between target and draft."""
