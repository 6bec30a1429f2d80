"""Measurements: step times of this machine, acceptance of a pair.

hardware (step times), acceptance (counted while decoding), acceptance_teacher_forced,
acceptance_by_level, path_acceptance (for verifiers that judge whole paths), text_places and
expected_steps (both along a fixed text), stop_rule (for a chain that stops when the draft is
unsure), defaults (the profile and the acceptance vector to plan with when none are given).
"""
