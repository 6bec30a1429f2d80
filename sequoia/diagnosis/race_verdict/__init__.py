"""Who won a race, by how much, and how sure the verdict is.

lane_runs (the runs of each lane, as plain values), compare_pair (two lanes: ratios and their
errors), speedup (one run against another: win, slower or no clear difference), decide (all lanes:
places, ties, correction), two_prompts (a lane's speed-ups on two prompts), verdict (the result as a
value), sentences (why, and how sure), elsewhere (a machine on which a tree is predicted to win),
student_t.
"""

from sequoia.diagnosis.race_verdict.decide import race_verdict
from sequoia.diagnosis.race_verdict.elsewhere import Elsewhere, tree_elsewhere
from sequoia.diagnosis.race_verdict.lane_runs import LaneRun, LaneRuns
from sequoia.diagnosis.race_verdict.speedup import Speedup, speedup
from sequoia.diagnosis.race_verdict.verdict import LanePlace, PairVerdict, Verdict

__all__ = [
    "Elsewhere",
    "LanePlace",
    "LaneRun",
    "LaneRuns",
    "PairVerdict",
    "Speedup",
    "Verdict",
    "race_verdict",
    "speedup",
    "tree_elsewhere",
]
