"""Draft, verify, keep: one step after another until the text ends.

engine (the loop), step (the interface of one draft-and-verify step), host_step and cuda (its two
implementations), choose_step (which of them a run uses), drafter (the draft model's part),
tree_choice, replanned_tree, dynamic_tree and stopping_chain (the tree of each step), race (several
decoders side by side), recorder (a run as it is saved or sent to the page).
"""
