"""The Decode view: one run, its tree at every step."""
