"""Measurements: step times of this machine, acceptance of a pair.

hardware: step times. acceptance, acceptance_by_level: counted while decoding.
acceptance_teacher_forced, text_places, expected_steps: along a fixed text. path_acceptance: for
verifiers that judge whole paths. stop_rule: for a chain that stops when the draft is unsure.
defaults: what to plan with when nothing is given.
"""
