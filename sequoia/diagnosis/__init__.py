"""Conclusions from measured runs, in numbers and codes; the sentences are made in ui/words.

where_time_went (what a step costs), what_to_try (which changes are predicted to help). Races:
compare_runs (two lanes: the ratio of their paces and its interval), race_verdict (all lanes:
places, ties, correction), verdict (the result as values); student_t.
"""
