"""Measurements: step times of this machine, acceptance of a pair.

hardware, acceptance (counted while decoding), acceptance_teacher_forced, acceptance_by_level,
text_places and expected_steps (both along a fixed text), stop_rule (of a chain that stops when
unsure), defaults (the profile and acceptance to plan with when none are given).
"""
