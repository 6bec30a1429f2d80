"""Measurements: step times of this machine, acceptance of a pair.

hardware: step times. acceptance: counted while decoding.
acceptance_teacher_forced, expected_steps: along a fixed text. stop_rule: for a chain that stops
when the draft is unsure.
defaults: what to plan with when nothing is given.
"""
