"""Draft, verify, keep: one step after another until the text ends.

engine (the loop), step (draft and verify one tree) and cuda (the same on a GPU), tree_choice and
dynamic_tree (the tree of each step), race (several decoders side by side), recorder (a run as it is
saved or sent to the page)."""
