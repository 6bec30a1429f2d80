"""Tests tokenizers in a separate process and compares the target's with the draft's."""
