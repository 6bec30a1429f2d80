"""Draft, verify, keep: one step after another until the text ends.

engine (the loop), step (draft and verify, as the loop sees it), host_step, cuda (the two ways to do
it), choose_step, drafter (the draft), tree_choice, replanned_tree, dynamic_tree, stopping_chain
(which tree the next step gets), race (several decoders side by side), recorder (a run as it is
stored or sent), simulated_run (a run with the step times of another machine).
"""
