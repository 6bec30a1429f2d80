"""Measurements: step times of this machine, acceptance of a pair.

hardware: step times, and the least time of a pass. counted_acceptance: counted while
decoding. acceptance_teacher_forced, steps_for_texts: along a fixed text. stopping_chain: a
chain that stops when the draft is unsure. defaults: what to plan with when nothing is given.
"""
