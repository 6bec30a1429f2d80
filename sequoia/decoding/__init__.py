"""Draft, verify, keep: one step after another until the text ends.

engine (the loop), step (one draft-and-verify step) and cuda (the same on a GPU), drafter (the
draft's part), tree_choice, replanned_tree, dynamic_tree and stopping_chain (the tree of each step),
race (several decoders side by side), recorder (a run as it is saved or sent to the page).
"""
