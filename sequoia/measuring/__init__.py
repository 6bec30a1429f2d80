"""Measurements: step times of this machine, acceptance of a pair.

hardware, acceptance (counted while decoding), acceptance_teacher_forced, acceptance_by_level,
defaults (the profile and acceptance to plan with when none are given).
"""
