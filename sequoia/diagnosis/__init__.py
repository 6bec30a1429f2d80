"""Conclusions from measured runs: where a run's time went, what to try, and how certain its
speed-up is; and who won a race.

where_time_went; what_to_try with losses_and_remedies, calibrated_profile, smaller_trees and
diagnosis (the result); race_verdict.
"""
