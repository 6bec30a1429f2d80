"""Guess, check, keep: one step after another until the text ends.

engine (the loop), drafter (the guesses), tree_choice, replanned_tree, growing_tree (which tree the
next step gets), race (several decoders side by side), recorder (a run as it is stored or sent).
"""
