"""Makes numbers: step times of this machine, acceptance of a pair.

hardware, acceptance (on the run), acceptance_teacher_forced, acceptance_by_level, defaults (the
profile and acceptance that are used when nobody chose).
"""
