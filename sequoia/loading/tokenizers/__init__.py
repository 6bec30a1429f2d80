"""Tokenizers: tried in a process of their own, and compared between target and draft."""
