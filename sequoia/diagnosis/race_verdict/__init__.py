"""Who won a race, by how much, and how sure the verdict is.

lane_runs (the runs of each lane, as plain values), compare_pair (two lanes: ratios and their
errors), decide (all lanes: places, ties, Holm's correction), two_prompts (a lane's speed-ups on two
prompts), verdict (the result as a value), sentence (the result in words), elsewhere (a machine on
which a tree is predicted to win), student_t.
"""

from sequoia.diagnosis.race_verdict.decide import race_verdict
from sequoia.diagnosis.race_verdict.elsewhere import Elsewhere, tree_elsewhere
from sequoia.diagnosis.race_verdict.lane_runs import LaneRun, LaneRuns
from sequoia.diagnosis.race_verdict.verdict import LanePlace, PairVerdict, Verdict

__all__ = [
    "Elsewhere",
    "LanePlace",
    "LaneRun",
    "LaneRuns",
    "PairVerdict",
    "Verdict",
    "race_verdict",
    "tree_elsewhere",
]
