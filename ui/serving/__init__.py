"""Visitors and models: who may ask for what, who is next, which pair is served, work in threads."""
